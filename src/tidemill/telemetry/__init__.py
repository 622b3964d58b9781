"""Listeners to happenings: one logs them, one counts them, one keeps the latest."""
