"""Mending how a page is read: selectors that a person points at, tried on stored pages before they count."""
