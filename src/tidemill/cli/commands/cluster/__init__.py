"""The commands of many machines: workers and beat of the Celery engine."""
