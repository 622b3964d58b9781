"""Products, offers and prices."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0004"
down_revision = "0003"

ONLY_GROW = ("prices", "price_corrections")
"""Tables whose rows the database itself refuses to change or remove, whoever asks."""

SAME = {
    "prices": "id = NEW.id OR (source_product_id = NEW.source_product_id AND ingestion_run_id = NEW.ingestion_run_id)",
    "price_corrections": "id = NEW.id",
}
"""Which row an INSERT OR REPLACE would take the place of."""

_REFUSE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% only grows: rows are neither changed nor removed', TG_TABLE_NAME; END $$
"""


def upgrade() -> None:
    """Take the step."""
    tables()
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE source_products ALTER COLUMN record SET STORAGE EXTERNAL")
        op.execute(_REFUSE)
        for table in ONLY_GROW:
            refuse_on_postgresql(table)
    else:
        for table in ONLY_GROW:
            refuse_on_sqlite(table)


def refuse_on_postgresql(table: str) -> None:
    """Let PostgreSQL refuse, even of somebody who empties the whole table."""
    call = "EXECUTE FUNCTION refuse_change()"
    op.execute(f"CREATE TRIGGER {table}_only_grow BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW {call}")
    op.execute(f"CREATE TRIGGER {table}_not_emptied BEFORE TRUNCATE ON {table} FOR EACH STATEMENT {call}")


def refuse_on_sqlite(table: str) -> None:
    """Let SQLite refuse; REPLACE counts as removing, and would slip past without the third trigger."""
    words = f"{table} only grows: rows are neither changed nor removed"
    refuse = f"BEGIN SELECT RAISE(ABORT, '{words}'); END"
    for deed in ("update", "delete"):
        op.execute(f"CREATE TRIGGER {table}_no_{deed} BEFORE {deed.upper()} ON {table} {refuse}")
    there = f"EXISTS (SELECT 1 FROM {table} WHERE {SAME[table]})"  # noqa: S608 - our own names
    op.execute(f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {there} {refuse}")


def tables() -> None:
    """Every table of the prices vertical."""
    op.create_table(
        "price_corrections",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("price_id", Key, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=True),
        sa.Column("currency", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("made_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_price_corrections")),
    )
    op.create_index("ix_price_corrections_price", "price_corrections", ["price_id", "id"])
    op.create_table(
        "prices",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("source_product_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("price_cents", sa.Integer(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("availability", sa.Text(), nullable=False),
        sa.Column("cost_per_round_cents", sa.Float(), nullable=True),
        sa.Column("shipping_cents", sa.Integer(), nullable=True),
        sa.Column("tax_included", sa.Boolean(), nullable=True),
        sa.Column("ingestion_run_type", sa.Text(), nullable=False),
        sa.Column("ingestion_run_id", Key, nullable=False),
        sa.Column("adapter_version", sa.Text(), server_default="", nullable=False),
        sa.Column("page_id", Key, nullable=True),
        sa.Column("observed_at", Timestamp(timezone=True), nullable=False),
        sa.Column("change_seq", sa.BigInteger(), nullable=True),
        sa.Column("was_cents", sa.Integer(), nullable=True),
        sa.Column("was_currency", sa.Text(), nullable=True),
        sa.Column("was_availability", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prices")),
        sa.UniqueConstraint(
            "source_product_id", "ingestion_run_id", name=op.f("uq_prices_source_product_id_ingestion_run_id")
        ),
    )
    op.create_index(
        "ix_prices_changes",
        "prices",
        ["change_seq"],
        sqlite_where=sa.text("change_seq IS NOT NULL"),
        postgresql_where=sa.text("change_seq IS NOT NULL"),
    )
    op.create_index("ix_prices_history", "prices", ["source_product_id", "observed_at", "id"])
    op.create_index("ix_prices_run", "prices", ["ingestion_run_id"])
    op.create_table(
        "product_links",
        sa.Column("source_product_id", Key, autoincrement=False, nullable=False),
        sa.Column("product_id", Key, nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("linked_by", sa.Text(), nullable=False),
        sa.Column("linked_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("source_product_id", name=op.f("pk_product_links")),
    )
    op.create_index(
        "ix_product_links_product",
        "product_links",
        ["product_id"],
        sqlite_where=sa.text("product_id IS NOT NULL"),
        postgresql_where=sa.text("product_id IS NOT NULL"),
    )
    op.create_index(
        "ix_product_links_review",
        "product_links",
        ["source_product_id"],
        sqlite_where=sa.text("status = 'REVIEW'"),
        postgresql_where=sa.text("status = 'REVIEW'"),
    )
    op.create_table(
        "products",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("brand", sa.Text(), nullable=True),
        sa.Column("upc", sa.Text(), nullable=True),
        sa.Column("attributes_key", sa.Text(), nullable=True),
        sa.Column("attributes", Json(), server_default="{}", nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_products")),
        sa.UniqueConstraint("upc", name=op.f("uq_products_upc")),
    )
    op.create_index("ix_products_attributes", "products", ["attributes_key"])
    op.create_table(
        "source_product_identifiers",
        sa.Column("source_product_id", Key, autoincrement=False, nullable=False),
        sa.Column("id_type", sa.Text(), nullable=False),
        sa.Column("id_value", sa.Text(), nullable=False),
        sa.Column("first_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("last_seen_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("source_product_id", "id_type", "id_value", name=op.f("pk_source_product_identifiers")),
    )
    op.create_index("ix_source_product_identifiers_value", "source_product_identifiers", ["id_type", "id_value"])
    op.create_table(
        "source_products",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("target_id", Key, nullable=False),
        sa.Column("identity_key", sa.Text(), nullable=False),
        sa.Column("retailer", sa.Text(), server_default="", nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("brand", sa.Text(), nullable=True),
        sa.Column("upc", sa.Text(), nullable=True),
        sa.Column("attributes_key", sa.Text(), nullable=True),
        sa.Column("price_id", Key, nullable=True),
        sa.Column("price_cents", sa.Integer(), nullable=True),
        sa.Column("currency", sa.Text(), nullable=True),
        sa.Column("availability", sa.Text(), nullable=True),
        sa.Column("out_since", Timestamp(timezone=True), nullable=True),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("held", sa.LargeBinary(), nullable=True),
        sa.Column("held_cents", sa.Integer(), nullable=True),
        sa.Column("held_currency", sa.Text(), nullable=True),
        sa.Column("held_run_id", Key, nullable=True),
        sa.Column("held_at", Timestamp(timezone=True), nullable=True),
        sa.Column("held_rejection_id", Key, nullable=True),
        sa.Column("page_id", Key, nullable=False),
        sa.Column("first_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("last_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.Column("times_seen", sa.Integer(), server_default="1", nullable=False),
        sa.Column("missed_runs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gone_at", Timestamp(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_source_products")),
        sa.UniqueConstraint("source_id", "identity_key", name=op.f("uq_source_products_source_id_identity_key")),
    )
    op.create_index("ix_source_products_target", "source_products", ["target_id"])


def downgrade() -> None:
    """Take it back."""
    for table in ("product_links", "products", "price_corrections", "prices", "source_product_identifiers"):
        op.drop_table(table)
    op.drop_table("source_products")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change()")
