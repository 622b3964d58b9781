"""Tidemill measured side by side with Scrapy and a bare script, on the same pages from the same server."""
