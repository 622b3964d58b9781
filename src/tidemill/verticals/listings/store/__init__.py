"""The tables of homes and markets, and all SQL over them."""
