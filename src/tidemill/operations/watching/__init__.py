"""What people look at to see how things go: freshness objectives."""
