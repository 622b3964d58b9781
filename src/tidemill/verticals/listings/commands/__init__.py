"""The commands of listings, one module each, named like it."""
