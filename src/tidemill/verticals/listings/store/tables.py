"""Homes for rent: a row per home, a row per source that shows it, and the keys by which like homes are found."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    true,
)

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

LISTINGS_LOCK = 7461063
"""Whether a home is new is asked before it is written: one transaction at a time does so."""

market_configs = Table(
    "market_configs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("display_name", Text, nullable=False),
    Column("city", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("tier", Text, nullable=False),
    Column("is_enabled", Boolean, nullable=False, server_default=true()),
    Column("max_listings_per_scrape", Integer, nullable=False, server_default="100"),
    Column("scrape_frequency_hours", Integer),
    Column("last_scrape_at", Timestamp),
    Column("last_scrape_status", Text),
    Column("consecutive_failures", Integer, nullable=False, server_default="0"),
    Column("created_at", Timestamp, nullable=False),
    Column("country", Text, nullable=False, server_default="US"),
    Column("currency", Text, nullable=False, server_default="USD"),
    Column("area", Text, nullable=False, server_default=""),
)

listings = Table(
    "listings",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("market_id", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("address_key", Text, nullable=False, server_default=""),
    Column("city", Text, nullable=False, server_default=""),
    Column("state", Text, nullable=False, server_default=""),
    Column("postal_code", Text, nullable=False, server_default=""),
    Column("rent_low", Integer),
    Column("rent_high", Integer),
    Column("currency", Text, nullable=False),
    Column("previous_rent", Integer),
    Column("rent_changed_at", Timestamp),
    Column("beds_low", Float),
    Column("beds_high", Float),
    Column("baths_low", Float),
    Column("latitude", Float),
    Column("longitude", Float),
    Column("quality", Integer, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Column("provenance", Json, nullable=False),
    Column("first_seen_at", Timestamp, nullable=False),
    Column("last_seen_at", Timestamp, nullable=False),
    Column("verified_at", Timestamp),
    Column("checked_at", Timestamp),
    Column("check_result", Text),
    Column("times_seen", Integer, nullable=False, server_default="1"),
    Column("looks", Integer, nullable=False, server_default="0"),
    Column("saves", Integer, nullable=False, server_default="0"),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("gone_at", Timestamp),
    Column("gone_reason", Text),
    Column("updated_at", Timestamp, nullable=False),
)
Index("ix_listings_door", listings.c.address_key)
partial("ix_listings_market", "is_active", listings.c.market_id, listings.c.last_seen_at, listings.c.id)
partial("ix_listings_rent", "is_active", listings.c.market_id, listings.c.rent_low, listings.c.id)
partial("ix_listings_suspected", "is_active AND gone_reason IS NOT NULL", listings.c.id)
partial("ix_listings_place", "is_active", listings.c.latitude, listings.c.longitude)

listing_sightings = Table(
    "listing_sightings",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("listing_id", Key, ForeignKey("listings.id", ondelete="CASCADE"), nullable=False),
    Column("source_id", Key, nullable=False),
    Column("identity", Text, nullable=False),
    Column("market_id", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Column("page_id", Key, nullable=False),
    Column("first_seen_at", Timestamp, nullable=False),
    Column("last_seen_at", Timestamp, nullable=False),
    Column("missed_runs", Integer, nullable=False, server_default="0"),
    Column("gone_at", Timestamp),
    UniqueConstraint("source_id", "identity"),
)
Index("ix_listing_sightings_listing", listing_sightings.c.listing_id)
partial(
    "ix_listing_sightings_shown",
    "gone_at IS NULL",
    listing_sightings.c.source_id,
    listing_sightings.c.market_id,
    listing_sightings.c.last_seen_at,
)

listing_blocks = Table(
    "listing_blocks",
    metadata,
    Column("block", Text, primary_key=True),
    Column("listing_id", Key, ForeignKey("listings.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)
Index("ix_listing_blocks_listing", listing_blocks.c.listing_id)
