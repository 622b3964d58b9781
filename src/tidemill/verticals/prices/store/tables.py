"""Offers as shops show them, the prices they had, and the products that they stand for.

`prices` and `price_corrections` only ever grow: triggers of the migration refuse whatever would change or remove a
row, whoever asks.
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, LargeBinary, Table, Text, UniqueConstraint

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import metadata, partial

source_products = Table(
    "source_products",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("source_id", Key, nullable=False),
    Column("target_id", Key, nullable=False),
    Column("identity_key", Text, nullable=False),
    Column("retailer", Text, nullable=False, server_default=""),
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("brand", Text),
    Column("upc", Text),
    Column("attributes_key", Text),
    Column("price_id", Key),
    Column("price_cents", Integer),
    Column("currency", Text),
    Column("availability", Text),
    Column("out_since", Timestamp),
    Column("checksum", BigInteger, nullable=False),
    Column("record", LargeBinary, nullable=False),
    Column("held", LargeBinary),
    Column("held_cents", Integer),
    Column("held_currency", Text),
    Column("held_run_id", Key),
    Column("held_at", Timestamp),
    Column("held_rejection_id", Key),
    Column("page_id", Key, nullable=False),
    Column("first_seen_at", Timestamp, nullable=False),
    Column("last_seen_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("times_seen", Integer, nullable=False, server_default="1"),
    Column("missed_runs", Integer, nullable=False, server_default="0"),
    Column("gone_at", Timestamp),
    UniqueConstraint("source_id", "identity_key"),
)
Index("ix_source_products_target", source_products.c.target_id)
partial("ix_source_products_gone", "gone_at IS NOT NULL", source_products.c.id)

source_product_identifiers = Table(
    "source_product_identifiers",
    metadata,
    Column("source_product_id", Key, primary_key=True, autoincrement=False),
    Column("id_type", Text, primary_key=True),
    Column("id_value", Text, primary_key=True),
    Column("first_seen_at", Timestamp, nullable=False),
    Column("last_seen_at", Timestamp, nullable=False),
)
Index(
    "ix_source_product_identifiers_value", source_product_identifiers.c.id_type, source_product_identifiers.c.id_value
)

prices = Table(
    "prices",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("source_product_id", Key, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("price_cents", Integer, nullable=False),
    Column("currency", Text, nullable=False),
    Column("availability", Text, nullable=False),
    Column("cost_per_round_cents", Float),
    Column("shipping_cents", Integer),
    Column("tax_included", Boolean),
    Column("ingestion_run_type", Text, nullable=False),
    Column("ingestion_run_id", Key, nullable=False),
    Column("adapter_version", Text, nullable=False, server_default=""),
    Column("page_id", Key),
    Column("observed_at", Timestamp, nullable=False),
    Column("change_seq", BigInteger),
    Column("was_cents", Integer),
    Column("was_currency", Text),
    Column("was_availability", Text),
    UniqueConstraint("source_product_id", "ingestion_run_id"),
)
Index("ix_prices_history", prices.c.source_product_id, prices.c.observed_at, prices.c.id)
Index("ix_prices_run", prices.c.ingestion_run_id)
partial("ix_prices_changes", "change_seq IS NOT NULL", prices.c.change_seq)

price_corrections = Table(
    "price_corrections",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("price_id", Key, nullable=False),
    Column("kind", Text, nullable=False),
    Column("price_cents", Integer),
    Column("currency", Text),
    Column("reason", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("made_at", Timestamp, nullable=False),
)
Index("ix_price_corrections_price", price_corrections.c.price_id, price_corrections.c.id)

products = Table(
    "products",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("title", Text, nullable=False),
    Column("brand", Text),
    Column("upc", Text, unique=True),
    Column("attributes_key", Text),
    Column("attributes", Json, nullable=False, server_default="{}"),
    Column("made_by", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
)
Index("ix_products_attributes", products.c.attributes_key)

product_links = Table(
    "product_links",
    metadata,
    Column("source_product_id", Key, primary_key=True, autoincrement=False),
    Column("product_id", Key),
    Column("status", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
    Column("linked_by", Text, nullable=False),
    Column("linked_at", Timestamp, nullable=False),
)
partial("ix_product_links_product", "product_id IS NOT NULL", product_links.c.product_id)
partial("ix_product_links_review", "status = 'REVIEW'", product_links.c.source_product_id)
