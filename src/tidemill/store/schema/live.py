"""What is watched live: things with their lives, the pages that tell of them, and every move of a life."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from tidemill.store.database.column_types import Key, Timestamp
from tidemill.store.database.metadata import TARGET, metadata, partial

live_things = Table(
    "live_things",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("vertical", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("anchor_id", Key, nullable=False),
    Column("lifecycle", Text, nullable=False),
    Column("since", Timestamp, nullable=False),
    Column("missed_lists", Integer, nullable=False, server_default="0"),
    Column("paused_until", Timestamp),
    Column("phase", Text, nullable=False),
    Column("starts_at", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    UniqueConstraint("vertical", "key"),
)
"""A thing's life as its watch last wrote it; `anchor_id` is the target that its hourly jobs are for."""
partial("ix_live_things_watched", "lifecycle <> 'ARCHIVED'", live_things.c.anchor_id)
Index("ix_live_things_anchor", live_things.c.anchor_id)

live_pages = Table(
    "live_pages",
    metadata,
    Column("target_id", Key, ForeignKey(TARGET, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("thing_id", Key, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("source_key", Text, nullable=False),
    Column("resource", Text, nullable=False),
    Column("missed_lists", Integer, nullable=False, server_default="0"),
    Column("checked_at", Timestamp),
    Column("changed_at", Timestamp),
    Column("interval_ms", Integer, nullable=False, server_default="0"),
    Column("debt_ms", BigInteger, nullable=False, server_default="0"),
    Column("polls", BigInteger, nullable=False, server_default="0"),
    Column("changes", BigInteger, nullable=False, server_default="0"),
    Column("ignored", BigInteger, nullable=False, server_default="0"),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("total_failures", BigInteger, nullable=False, server_default="0"),
)
"""A page that tells of a thing. What polling counts is written for all pages together, every 15 seconds."""
Index("ix_live_pages_thing", live_pages.c.thing_id)
Index("ix_live_pages_source", live_pages.c.source_id, live_pages.c.source_key)

live_moves = Table(
    "live_moves",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("thing_id", Key, nullable=False),
    Column("moved_from", Text, nullable=False),
    Column("moved_to", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("moved_at", Timestamp, nullable=False),
)
"""Every move of a thing's life, '' to DISCOVERED first. Those of a thing that was read are in its log too."""
Index("ix_live_moves_thing", live_moves.c.thing_id, live_moves.c.id)
