"""`why`: which gate, which rule, which page, for anything that can be named."""
