"""The tables of matches and all SQL over them."""
