"""Stored pages and what stages made of them."""
