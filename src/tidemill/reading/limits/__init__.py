"""Bounds on markup: what the parser cannot digest in time is cut before it is parsed."""
