"""Things that are watched live, their pages and the moves of their lives; when a worker's live lane was last seen."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Key, Timestamp

revision = "0015"
down_revision = "0014"

_WATCHED = sa.text("lifecycle <> 'ARCHIVED'")


def upgrade() -> None:
    """Take the step."""
    op.add_column("workers", sa.Column("live_seen_at", Timestamp()))
    _things()
    _pages()
    op.create_table(
        "live_moves",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("thing_id", Key, nullable=False),
        sa.Column("moved_from", sa.Text(), nullable=False),
        sa.Column("moved_to", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("moved_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_live_moves")),
    )
    op.create_index("ix_live_moves_thing", "live_moves", ["thing_id", "id"])


def _things() -> None:
    op.create_table(
        "live_things",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("anchor_id", Key, nullable=False),
        sa.Column("lifecycle", sa.Text(), nullable=False),
        sa.Column("since", Timestamp(), nullable=False),
        sa.Column("missed_lists", sa.Integer(), server_default="0", nullable=False),
        sa.Column("paused_until", Timestamp()),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("starts_at", Timestamp()),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.Column("updated_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_live_things")),
        sa.UniqueConstraint("vertical", "key", name=op.f("uq_live_things_vertical_key")),
    )
    op.create_index(
        "ix_live_things_watched", "live_things", ["anchor_id"], sqlite_where=_WATCHED, postgresql_where=_WATCHED
    )
    op.create_index("ix_live_things_anchor", "live_things", ["anchor_id"])


def _pages() -> None:
    op.create_table(
        "live_pages",
        sa.Column("target_id", Key, autoincrement=False, nullable=False),
        sa.Column("thing_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("source_key", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("missed_lists", sa.Integer(), server_default="0", nullable=False),
        sa.Column("checked_at", Timestamp()),
        sa.Column("changed_at", Timestamp()),
        sa.Column("interval_ms", sa.Integer(), server_default="0", nullable=False),
        sa.Column("debt_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("polls", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("changes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ignored", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("total_failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["target_id"],
            ["scrape_targets.id"],
            name=op.f("fk_live_pages_target_id_scrape_targets"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("target_id", name=op.f("pk_live_pages")),
    )
    op.create_index("ix_live_pages_thing", "live_pages", ["thing_id"])
    op.create_index("ix_live_pages_source", "live_pages", ["source_id", "source_key"])


def downgrade() -> None:
    """Take it back."""
    for table in ("live_moves", "live_pages", "live_things"):
        op.drop_table(table)
    op.drop_column("workers", "live_seen_at")
