"""Listeners to what happens: one writes it down, one counts it, one remembers the latest."""
