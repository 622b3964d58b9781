"""Tidemill keeps scraped data fresh and trustworthy without ever stopping."""

__version__ = "0.1.0"
