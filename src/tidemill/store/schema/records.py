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
    Column("replay_id", Key),
)
partial("ix_record_history_replay", "replay_id IS NOT NULL", record_history.c.replay_id)
Index("ix_record_history_record", record_history.c.vertical, record_history.c.record_id)

record_changes = Table(
    "record_changes",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("vertical", Text, nullable=False),
    Column("record_id", Key, nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("group_key", Text, nullable=False, server_default=""),
    Column("changes", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)
"""What became of published records, numbered in the order of commits: what a program follows by cursor."""
Index("ix_record_changes_vertical", record_changes.c.vertical, record_changes.c.seq)
Index("ix_record_changes_created", record_changes.c.created_at)

shown_records = Table(
    "shown_records",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("vertical", Text, nullable=False),
    Column("record_id", Key, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("shown_from", Timestamp, nullable=False),
    Column("shown_until", Timestamp, nullable=False),
    Column("shown", LargeBinary, nullable=False),
)
"""What readers saw of published records until something else took its place: JSON packed with zstd.

`place` is the record's own moment in microseconds, by which its list is ordered.
"""
Index("ix_shown_records_place", shown_records.c.vertical, shown_records.c.place, shown_records.c.record_id)
Index("ix_shown_records_until", shown_records.c.shown_until)

seen_records = Table(
    "seen_records",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("vertical", Text, nullable=False),
    Column("how", Text, nullable=False),
    Column("seen_at", Timestamp, nullable=False),
    Column("records", LargeBinary, nullable=False),
)
"""Which records were seen at a moment, their keys packed: their rows only tell when each was seen last."""
Index("ix_seen_records_at", seen_records.c.vertical, seen_records.c.seen_at)
