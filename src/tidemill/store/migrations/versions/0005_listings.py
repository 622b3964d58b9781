"""Markets, homes for rent, and runs that cover a part of their source."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.migrations.data import markets

revision = "0005"
down_revision = "0004"

NOW = {"sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)", "postgresql": "now()"}


def upgrade() -> None:
    """Add what listings need, and the 19 markets."""
    op.add_column("scrape_targets", sa.Column("scope", sa.Text(), server_default="", nullable=False))
    op.add_column("scrape_targets", sa.Column("parameters", Json(), nullable=True))
    op.add_column("scrape_runs", sa.Column("scope", sa.Text(), server_default="", nullable=False))
    _listings()
    _sightings()
    _seed_markets()


def downgrade() -> None:
    """Take it away again."""
    for table in ("listing_blocks", "listing_sightings", "listings"):
        op.drop_table(table)
    op.drop_column("scrape_runs", "scope")
    op.drop_column("scrape_targets", "parameters")
    op.drop_column("scrape_targets", "scope")


def _listings() -> None:
    op.create_table(
        "listings",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("address_key", sa.Text(), server_default="", nullable=False),
        sa.Column("city", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("postal_code", sa.Text(), server_default="", nullable=False),
        sa.Column("rent_low", sa.Integer(), nullable=True),
        sa.Column("rent_high", sa.Integer(), nullable=True),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("previous_rent", sa.Integer(), nullable=True),
        sa.Column("rent_changed_at", Timestamp(timezone=True), nullable=True),
        sa.Column("beds_low", sa.Float(), nullable=True),
        sa.Column("beds_high", sa.Float(), nullable=True),
        sa.Column("baths_low", sa.Float(), nullable=True),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("quality", sa.Integer(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("provenance", Json(), nullable=False),
        sa.Column("first_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("last_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("verified_at", Timestamp(timezone=True), nullable=True),
        sa.Column("checked_at", Timestamp(timezone=True), nullable=True),
        sa.Column("check_result", sa.Text(), nullable=True),
        sa.Column("times_seen", sa.Integer(), server_default="1", nullable=False),
        sa.Column("looks", sa.Integer(), server_default="0", nullable=False),
        sa.Column("saves", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("gone_at", Timestamp(timezone=True), nullable=True),
        sa.Column("gone_reason", sa.Text(), nullable=True),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_listings")),
    )
    active = sa.text("is_active")
    op.create_index("ix_listings_door", "listings", ["address_key"])
    op.create_index(
        "ix_listings_market",
        "listings",
        ["market_id", "last_seen_at", "id"],
        sqlite_where=active,
        postgresql_where=active,
    )
    op.create_index(
        "ix_listings_rent", "listings", ["market_id", "rent_low", "id"], sqlite_where=active, postgresql_where=active
    )
    op.create_index(
        "ix_listings_place", "listings", ["latitude", "longitude"], sqlite_where=active, postgresql_where=active
    )


def _sightings() -> None:
    op.create_table(
        "listing_sightings",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("listing_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("page_id", Key, nullable=False),
        sa.Column("first_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("last_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("missed_runs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gone_at", Timestamp(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_listing_sightings_listing_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_listing_sightings")),
        sa.UniqueConstraint("source_id", "identity", name=op.f("uq_listing_sightings_source_id_identity")),
    )
    shown = sa.text("gone_at IS NULL")
    op.create_index("ix_listing_sightings_listing", "listing_sightings", ["listing_id"])
    op.create_index(
        "ix_listing_sightings_shown",
        "listing_sightings",
        ["source_id", "market_id", "last_seen_at"],
        sqlite_where=shown,
        postgresql_where=shown,
    )
    op.create_table(
        "listing_blocks",
        sa.Column("block", sa.Text(), nullable=False),
        sa.Column("listing_id", Key, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["listing_id"], ["listings.id"], name=op.f("fk_listing_blocks_listing_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("block", "listing_id", name=op.f("pk_listing_blocks")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_listing_blocks_listing", "listing_blocks", ["listing_id"])


def _seed_markets() -> None:
    """One row per city that an installation begins with; more are one insert each.

    They count from this very moment, by the database's own clock: nothing is overdue in a new installation.
    """
    insert = sa.text(
        "INSERT INTO market_configs (id, display_name, city, state, tier, created_at)"  # noqa: S608 - words of ours
        f" VALUES (:id, :display_name, :city, :state, :tier, {NOW[op.get_context().dialect.name]})"
        " ON CONFLICT (id) DO NOTHING"
    )
    for market in markets():
        op.execute(insert.bindparams(**market))
