"""Snapshots of things that change within seconds, the log of their changes, and caches of both."""
