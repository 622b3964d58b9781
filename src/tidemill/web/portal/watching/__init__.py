"""Pages on what people watch: incidents and freshness objectives."""
