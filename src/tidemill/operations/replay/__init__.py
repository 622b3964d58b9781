"""Replays: read stored pages again, report what differs, gate changes of reading, and apply what was accepted."""
