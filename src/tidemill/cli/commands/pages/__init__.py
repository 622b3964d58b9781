"""The commands to try a page with, and what reads it."""
