"""Reading events off a page: JSON-LD, microdata, selectors, then a good look at its blocks."""
