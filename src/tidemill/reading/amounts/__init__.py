"""Numbers and amounts of money in words, by a table for each language."""
