"""The readers of pages: their pool in a worker, the process that they are forked from, and replays over them."""
