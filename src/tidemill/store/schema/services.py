"""Services outside of us: how they stand, what they cost, what they work on, and what a person may choose of them."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text

from tidemill.store.database.column_types import Key, Timestamp
from tidemill.store.database.metadata import SOURCE, metadata

service_status = Table(
    "service_status",
    metadata,
    Column("service", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("since", Timestamp, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("seen_at", Timestamp, nullable=False),
)

service_spend = Table(
    "service_spend",
    metadata,
    Column("service", Text, primary_key=True),
    Column("hour", Timestamp, primary_key=True),
    Column("amount", BigInteger, nullable=False, server_default="0"),
    Column("calls", Integer, nullable=False, server_default="0"),
)
"""What a service was paid in each hour, in its own smallest unit: credits, or millionths of a dollar."""

actor_runs = Table(
    "actor_runs",
    metadata,
    Column("job_id", Key, primary_key=True, autoincrement=False),
    Column("actor", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("dataset_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("timeout_seconds", Integer, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("ended_at", Timestamp),
)
"""Actor runs at Apify that jobs of ours have begun: a worker that comes after a crash goes on with them."""
Index("ix_actor_runs_started", actor_runs.c.started_at)

fetcher_upgrades = Table(
    "fetcher_upgrades",
    metadata,
    Column("source_id", Key, ForeignKey(SOURCE, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("fetcher", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("times", Integer, nullable=False, server_default="1"),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("suggested_at", Timestamp, nullable=False),
    Column("last_at", Timestamp, nullable=False),
    Column("decided_at", Timestamp),
    Column("decided_by", Text),
)
