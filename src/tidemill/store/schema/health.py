"""How watched things are polled: contexts as they stand, their log by the minute, failed tries, and recoveries."""

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata

scraper_contexts = Table(
    "scraper_contexts",
    metadata,
    Column("process", Text, primary_key=True),
    Column("report", LargeBinary, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
)
"""What each process polls, packed, as of a few seconds ago."""

scraper_health_log = Table(
    "scraper_health_log",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("scraper_id", Text, nullable=False),
    Column("match_id", Text),
    Column("timestamp", Timestamp, nullable=False),
    Column("health_status", Text, nullable=False),
    Column("error_count", Integer, nullable=False),
    Column("memory_mb", Float),
    Column("cpu_percent", Float),
    Column("update_latency_ms", Integer),
    Column("polling_interval_seconds", Float),
    Column("uptime_seconds", Integer),
    Column("last_update_age_seconds", Integer),
)
"""A row per context and minute. `match_id` is the key of the thing, of whatever vertical, as the designs name it."""
Index("idx_health_scraper_timestamp", scraper_health_log.c.scraper_id, scraper_health_log.c.timestamp)
Index("idx_health_match_timestamp", scraper_health_log.c.match_id, scraper_health_log.c.timestamp)
Index("idx_health_status", scraper_health_log.c.health_status, scraper_health_log.c.timestamp)

scraper_errors = Table(
    "scraper_errors",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("scraper_id", Text, nullable=False),
    Column("match_id", Text),
    Column("timestamp", Timestamp, nullable=False),
    Column("error_type", Text, nullable=False),
    Column("error_message", Text, nullable=False),
    Column("stack_trace", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("retry_attempt", Integer, nullable=False),
    Column("resolved", Boolean, nullable=False),
    Column("resolution_time", Timestamp),
    Column("resolution_method", Text),
)
"""A row per failed try; how it ended is filled in when it is over."""
Index("idx_errors_scraper_timestamp", scraper_errors.c.scraper_id, scraper_errors.c.timestamp)
Index("idx_error_type", scraper_errors.c.error_type, scraper_errors.c.timestamp)
Index("idx_unresolved", scraper_errors.c.resolved, scraper_errors.c.timestamp)

recoveries = Table(
    "recoveries",
    metadata,
    Column("entry_id", Text, primary_key=True),
    Column("timestamp", Timestamp, nullable=False),
    Column("action_type", Text, nullable=False),
    Column("trigger_condition", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("duration_seconds", Float, nullable=False),
    Column("metadata", Json, nullable=False),
)
"""What was done about failing freshness, and what came of it."""
Index("ix_recoveries_timestamp", recoveries.c.timestamp)
