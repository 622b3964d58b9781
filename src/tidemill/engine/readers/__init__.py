"""Readers: processes that read pages, and that are killed when a page is too hard for them."""
