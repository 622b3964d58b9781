"""The engine of a process, built from the settings: what it stands on, what works, and what is done periodically."""
