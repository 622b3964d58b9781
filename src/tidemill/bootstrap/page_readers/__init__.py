"""The readers of pages: their pool in a worker, and the process that they are forked from."""
