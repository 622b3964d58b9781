"""Products, offers, prices, corrections and links over HTTP, one module per resource."""
