"""The commands of events, one module each, named like it."""
