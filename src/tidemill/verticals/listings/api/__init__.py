"""Homes and markets over HTTP, one module per resource."""
