"""Feeds: what RSS, Atom, sitemaps, JSON feeds and plain lists say which pages a site has."""
