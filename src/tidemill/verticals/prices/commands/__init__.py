"""The commands of prices, one module each, named like it."""
