"""Exit codes beside 0, which is complete."""

FAILURE, USAGE, PARTIAL, EMPTY = 1, 2, 3, 4
