"""Replays: which pages they read again, what was kept of them then, their reports, and changes at the gate."""
