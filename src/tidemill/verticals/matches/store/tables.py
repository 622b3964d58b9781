"""Matches: the canonical ones, what each source calls them, and where sources disagree. States are in `snapshots`."""

from sqlalchemy import Column, Index, Integer, Table, Text

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata

MATCHES_LOCK = 7461064
"""Whether a match is new is asked before it is written: one transaction at a time does so."""

matches = Table(
    "matches",
    metadata,
    Column("key", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("teams", Json, nullable=False),
    Column("series", Text, nullable=False),
    Column("match_type", Text, nullable=False),
    Column("starts_at", Timestamp),
    Column("merged_into", Text),
    Column("created_at", Timestamp, nullable=False),
)
"""One row per match; one that turned out to be another names it, and keeps its own history."""
Index("ix_matches_starts", matches.c.starts_at)

match_ids = Table(
    "match_ids",
    metadata,
    Column("source_id", Key, primary_key=True, autoincrement=False),
    Column("source_key", Text, primary_key=True),
    Column("match_key", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("doubt", Text, nullable=False),
    Column("settled_by", Text),
    Column("first_seen_at", Timestamp, nullable=False),
)
"""What a source calls a match; `doubt` waits for a person unless somebody has settled it."""
Index("ix_match_ids_match", match_ids.c.match_key)

match_conflicts = Table(
    "match_conflicts",
    metadata,
    Column("match_key", Text, primary_key=True),
    Column("found_at", Timestamp, primary_key=True),
    Column("other_source", Text, primary_key=True),
    Column("innings", Integer, primary_key=True, autoincrement=False),
    Column("field", Text, primary_key=True),
    Column("shown_source", Text, nullable=False),
    Column("shown_value", Integer, nullable=False),
    Column("other_value", Integer, nullable=False),
)
"""Runs or wickets on which two sites differ by more than 5 %, once per disagreement."""
