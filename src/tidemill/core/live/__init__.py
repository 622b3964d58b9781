"""Watching things that change within seconds, decided: when to poll, what to ask, what a reading changes."""
