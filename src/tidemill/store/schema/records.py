"""Records on their way, and what happened to them."""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, Table, Text, UniqueConstraint, text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

IS_OPEN_SUBJECT = text("verdict = 'quarantined' AND review IS NULL AND subject <> ''")
"""Which rejected records are open once per subject and reason; those of before subjects were kept have none."""


def _whereabouts() -> tuple[Column[Any], ...]:
    """Where in the segment files an output is that is not in its row."""
    return Column("segment", Integer), Column("place", BigInteger), Column("length", Integer)


raw_records = Table(
    "raw_records",
    metadata,
    Column("page_id", Key, primary_key=True, autoincrement=False),
    Column("job_id", Key, nullable=False),
    Column("adapter_id", Text, nullable=False),
    Column("adapter_version", Text, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("records", Integer, nullable=False),
    Column("found", LargeBinary, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    *_whereabouts(),
)

staged_records = Table(
    "staged_records",
    metadata,
    Column("page_id", Key, primary_key=True, autoincrement=False),
    Column("job_id", Key, nullable=False),
    Column("accepted", Integer, nullable=False),
    Column("dropped", Integer, nullable=False),
    Column("quarantined", Integer, nullable=False),
    Column("staged", LargeBinary, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    *_whereabouts(),
)

rejected_records = Table(
    "rejected_records",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("job_id", Key, nullable=False),
    Column("run_id", Key, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("page_id", Key, nullable=False),
    Column("position", Integer, nullable=False),
    Column("vertical", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
    Column("raw", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("review", Text),
    Column("reviewed_by", Text),
    Column("reviewed_at", Timestamp),
    Column("review_notes", Text),
    Column("subject", Text, nullable=False, server_default=""),
    Column("times", Integer, nullable=False, server_default="1"),
    Column("last_seen_at", Timestamp),
    UniqueConstraint("page_id", "position"),
)
Index("ix_rejected_records_source", rejected_records.c.source_id, rejected_records.c.created_at)
partial("ix_rejected_records_waiting", "verdict = 'quarantined' AND review IS NULL", rejected_records.c.id)
Index(
    "uq_rejected_records_open_subject",
    rejected_records.c.source_id,
    rejected_records.c.subject,
    rejected_records.c.reason,
    unique=True,
    sqlite_where=IS_OPEN_SUBJECT,
    postgresql_where=IS_OPEN_SUBJECT,
)

record_history = Table(
    "record_history",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("vertical", Text, nullable=False),
    Column("record_id", Key, nullable=False),
    Column("run_id", Key, nullable=False),
    Column("page_id", Key),
    Column("kind", Text, nullable=False),
    Column("changes", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)
Index("ix_record_history_record", record_history.c.vertical, record_history.c.record_id)
