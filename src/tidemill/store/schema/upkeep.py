"""What the engine notes about itself, and people about what they did."""

from sqlalchemy import Column, Index, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata

tick_slots = Table(
    "tick_slots",
    metadata,
    Column("name", Text, primary_key=True),
    Column("slot", Timestamp, primary_key=True),
    Column("worker_id", Key, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("finished_at", Timestamp),
    Column("status", Text, nullable=False, server_default="running"),
    Column("detail", Text, nullable=False, server_default=""),
    sqlite_with_rowid=False,
)

engine_state = Table(
    "engine_state",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Json, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)
Index("ix_audit_log_actor", audit_log.c.actor, audit_log.c.id)
Index("ix_audit_log_subject", audit_log.c.subject, audit_log.c.id)
