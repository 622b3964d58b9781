"""Replays of stored pages, their pages, and changes of reading that go through the gate."""

from sqlalchemy import Column, Index, Integer, LargeBinary, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

replays = Table(
    "replays",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("scope", Json, nullable=False),
    Column("status", Text, nullable=False),
    Column("pages_total", Integer, nullable=False, server_default="0"),
    Column("report", LargeBinary),
    Column("digest", Text, nullable=False, server_default=""),
    Column("change", Text, nullable=False),
    Column("held_because", Json, nullable=False),
    Column("cost", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("ended_at", Timestamp),
    Column("decided_at", Timestamp),
    Column("decided_by", Text, nullable=False, server_default=""),
    Column("applied_at", Timestamp),
    Column("applied_by", Text, nullable=False, server_default=""),
    Column("applied", Json, nullable=False),
    Column("reverted_at", Timestamp),
    Column("reverted_by", Text, nullable=False, server_default=""),
)

replay_pages = Table(
    "replay_pages",
    metadata,
    Column("replay_id", Key, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("page_id", Key, nullable=False),
    Column("run_id", Key, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("url", Text, nullable=False),
    Column("fetched_at", Timestamp, nullable=False),
    Column("state", Text, nullable=False),
    Column("records_then", Integer, nullable=False, server_default="0"),
    Column("records_now", Integer, nullable=False, server_default="0"),
    Column("changes", Integer, nullable=False, server_default="0"),
    Column("difference", LargeBinary),
)
"""`difference` is JSON packed with zstd: a replay that is applied writes what its report showed, page by page."""

reading_changes = Table(
    "reading_changes",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("adapter_id", Text, nullable=False),
    Column("source_id", Key),
    Column("before", Json),
    Column("after", Json),
    Column("status", Text, nullable=False),
    Column("replay_id", Key),
    Column("created_at", Timestamp, nullable=False),
    Column("created_by", Text, nullable=False, server_default=""),
    Column("decided_at", Timestamp),
    Column("decided_by", Text, nullable=False, server_default=""),
)
partial("ix_reading_changes_open", "status IN ('checking', 'waiting')", reading_changes.c.id)
Index("ix_reading_changes_source", reading_changes.c.source_id, reading_changes.c.id)

adapter_versions = Table(
    "adapter_versions",
    metadata,
    Column("adapter_id", Text, primary_key=True),
    Column("version", Text, nullable=False),
    Column("accepted_at", Timestamp, nullable=False),
    Column("accepted_by", Text, nullable=False),
)
"""The version of each adapter that may write records; another one is held."""
