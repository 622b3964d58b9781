"""Many machines: the Celery engine and the broker, built from the settings."""
