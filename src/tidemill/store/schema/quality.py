"""How well each adapter still fits its sites, and who is told what changed."""

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, Table, Text, UniqueConstraint, false, true

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

drift_standings = Table(
    "drift_standings",
    metadata,
    Column("adapter_id", Text, primary_key=True),
    Column("source_id", Key, primary_key=True, autoincrement=False),
    Column("failed_batches", Integer, nullable=False, server_default="0"),
    Column("empty_runs", Integer, nullable=False, server_default="0"),
    Column("zero_price_runs", Integer, nullable=False, server_default="0"),
    Column("watched", Boolean, nullable=False, server_default=false()),
    Column("last_run_id", Key),
    Column("updated_at", Timestamp, nullable=False),
)

field_baselines = Table(
    "field_baselines",
    metadata,
    Column("source_id", Key, primary_key=True, autoincrement=False),
    Column("field", Text, primary_key=True),
    Column("share", Float, nullable=False),
    Column("records", Integer, nullable=False),
    Column("blessed_by", Text, nullable=False),
    Column("blessed_at", Timestamp, nullable=False),
)

webhook_subscriptions = Table(
    "webhook_subscriptions",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("feed", Text, nullable=False, server_default=""),
    Column("kinds", Json, nullable=False),
    Column("only", Json, nullable=False, server_default="{}"),
    Column("previous_secret", Text),
    Column("previous_until", Timestamp),
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Column("created_by", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("subscription_id", Key, nullable=False),
    Column("notice_key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("next_attempt_at", Timestamp),
    Column("last_code", Integer),
    Column("last_error", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("delivered_at", Timestamp),
    Column("tries", Json, nullable=False, server_default="[]"),
    UniqueConstraint("subscription_id", "notice_key"),
)
partial("ix_webhook_deliveries_due", "status = 'pending'", webhook_deliveries.c.next_attempt_at)
Index("ix_webhook_deliveries_created", webhook_deliveries.c.created_at)
