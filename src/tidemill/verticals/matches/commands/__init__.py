"""The commands of matches, one module each, named like it."""
