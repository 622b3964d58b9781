"""The tables of events: what sources tell, and the cards that readers see, with the words they are found by.

Cards, links, words and the keys by which candidates for a link are found are made from `events` after the fact, so that
whoever scrapes pays for none of their indexes.
"""

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, Table, Text, UniqueConstraint

from tidemill.store.database.column_types import Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

events = Table(
    "events",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("source_id", Key, nullable=False),
    Column("identity", Text, nullable=False),
    Column("identity_hash", BigInteger, nullable=False),
    Column("event_fingerprint", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("event_date", Timestamp, nullable=False),
    Column("ends_at", Timestamp),
    Column("event_time", Text, nullable=False),
    Column("venue_name", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("latitude", Float),
    Column("longitude", Float),
    Column("status", Text, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Column("page_id", Key, nullable=False),
    Column("first_seen_at", Timestamp, nullable=False),
    Column("last_seen_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("times_seen", Integer, nullable=False, server_default="1"),
    Column("missed_runs", Integer, nullable=False, server_default="0"),
    Column("gone_at", Timestamp),
    UniqueConstraint("source_id", "identity_hash"),
)
Index("ix_events_date", events.c.event_date, events.c.id)
Index("ix_events_updated", events.c.updated_at, events.c.id)
partial("ix_events_gone", "gone_at IS NOT NULL", events.c.id)

event_cards = Table(
    "event_cards",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("source_id", Key, nullable=False),
    Column("title", Text, nullable=False),
    Column("event_date", Timestamp, nullable=False),
    Column("ends_at", Timestamp),
    Column("category", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("latitude", Float),
    Column("longitude", Float),
    Column("square", Integer),
    Column("sources", Integer, nullable=False),
    Column("reliability", Float, nullable=False),
    Column("words", Text, nullable=False),
    Column("card", LargeBinary, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
)
Index("ix_event_cards_date", event_cards.c.event_date, event_cards.c.id)
Index(
    "ix_event_cards_square",
    event_cards.c.square,
    event_cards.c.event_date,
    event_cards.c.id,
    event_cards.c.category,
    event_cards.c.latitude,
    event_cards.c.longitude,
)  # fmt: skip - it holds all that a search around a place looks at
Index("ix_event_cards_category", event_cards.c.category, event_cards.c.event_date, event_cards.c.id)

event_links = Table(
    "event_links",
    metadata,
    Column("event_id", Key, primary_key=True, autoincrement=False),
    Column("card_id", Key, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("score", Float, nullable=False),
    Column("as_of", Timestamp, nullable=False),
    Column("minute", BigInteger, nullable=False),
    Column("keys", Text, nullable=False),
)
Index("ix_event_links_card", event_links.c.card_id)
Index("ix_event_links_source", event_links.c.source_id, event_links.c.card_id)

event_words = Table(
    "event_words",
    metadata,
    Column("word", Text, primary_key=True),
    Column("event_date", Timestamp, primary_key=True),
    Column("card_id", Key, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

event_candidates = Table(
    "event_candidates",
    metadata,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("minute", BigInteger, primary_key=True, autoincrement=False),
    Column("event_id", Key, primary_key=True, autoincrement=False),
    Column("source_id", Key, nullable=False),
    sqlite_with_rowid=False,
)
