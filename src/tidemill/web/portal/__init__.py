"""Pages for people: they work without scripts, and take nothing from elsewhere."""
