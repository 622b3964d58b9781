"""What people watch: incidents with what was sent about them, and freshness objectives."""
