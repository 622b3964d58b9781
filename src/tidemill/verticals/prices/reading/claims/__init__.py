"""What the data on a page claims about its product: JSON-LD, microdata, meta tags, platform markup, scripts."""
