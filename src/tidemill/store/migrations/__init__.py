"""The schema's history, one numbered step per change."""
