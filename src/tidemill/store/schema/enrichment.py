"""Enrichment: what records still lack, and every answer that was ever paid for."""

from sqlalchemy import Boolean, Column, Float, Index, Integer, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata

geocodes = Table(
    "geocodes",
    metadata,
    Column("key", Text, primary_key=True),
    Column("query", Text, nullable=False),
    Column("latitude", Float),
    Column("longitude", Float),
    Column("exact", Boolean, nullable=False),
    Column("answered_at", Timestamp, nullable=False),
)

model_answers = Table(
    "model_answers",
    metadata,
    Column("key", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("sureness", Float, nullable=False),
    Column("model", Text, nullable=False),
    Column("answered_at", Timestamp, nullable=False),
)

enrichment_wants = Table(
    "enrichment_wants",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("subject_id", Key, primary_key=True, autoincrement=False),
    Column("key", Text, primary_key=True),
    Column("vertical", Text, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("run_id", Key, nullable=False),
    Column("question", Json, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("not_before", Timestamp, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)
"""What is still to be asked. The subject is a record, or the target of a record that was dropped for want of it."""
Index("ix_enrichment_wants_due", enrichment_wants.c.kind, enrichment_wants.c.not_before)
Index("ix_enrichment_wants_key", enrichment_wants.c.kind, enrichment_wants.c.key)
