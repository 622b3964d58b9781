"""What leaves the system by itself: feeds of changes, and webhooks."""
