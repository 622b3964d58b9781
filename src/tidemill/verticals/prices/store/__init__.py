"""The tables of products, offers and prices, and all SQL over them."""
