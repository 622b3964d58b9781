"""Replays, decided: what two readings of a page differ in, what a report adds up to, and when a change is held."""
