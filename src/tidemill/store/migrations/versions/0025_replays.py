"""Replays, their pages, changes of reading, accepted versions of adapters, and history that names its replay."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Take the step."""
    _replays()
    _pages()
    _changes()
    op.create_table(
        "adapter_versions",
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("accepted_at", Timestamp(), nullable=False),
        sa.Column("accepted_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("adapter_id", name=op.f("pk_adapter_versions")),
    )
    op.add_column("record_history", sa.Column("replay_id", Key))
    op.create_index(
        "ix_record_history_replay",
        "record_history",
        ["replay_id"],
        sqlite_where=sa.text("replay_id IS NOT NULL"),
        postgresql_where=sa.text("replay_id IS NOT NULL"),
    )


def _replays() -> None:
    op.create_table(
        "replays",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("scope", Json, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("pages_total", sa.Integer(), server_default="0", nullable=False),
        sa.Column("report", sa.LargeBinary()),
        sa.Column("digest", sa.Text(), server_default="", nullable=False),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("held_because", Json, nullable=False),
        sa.Column("cost", Json, nullable=False),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("ended_at", Timestamp()),
        sa.Column("decided_at", Timestamp()),
        sa.Column("decided_by", sa.Text(), server_default="", nullable=False),
        sa.Column("applied_at", Timestamp()),
        sa.Column("applied_by", sa.Text(), server_default="", nullable=False),
        sa.Column("applied", Json, nullable=False),
        sa.Column("reverted_at", Timestamp()),
        sa.Column("reverted_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_replays")),
    )


def _pages() -> None:
    op.create_table(
        "replay_pages",
        sa.Column("replay_id", Key, autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("page_id", Key, nullable=False),
        sa.Column("run_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("fetched_at", Timestamp(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("records_then", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_now", sa.Integer(), server_default="0", nullable=False),
        sa.Column("changes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("difference", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("replay_id", "number", name=op.f("pk_replay_pages")),
    )


def _changes() -> None:
    op.create_table(
        "reading_changes",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("source_id", Key),
        sa.Column("before", Json),
        sa.Column("after", Json),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("replay_id", Key),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.Column("decided_at", Timestamp()),
        sa.Column("decided_by", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reading_changes")),
    )
    op.create_index(
        "ix_reading_changes_open",
        "reading_changes",
        ["id"],
        sqlite_where=sa.text("status IN ('checking', 'waiting')"),
        postgresql_where=sa.text("status IN ('checking', 'waiting')"),
    )
    op.create_index("ix_reading_changes_source", "reading_changes", ["source_id", "id"])


def downgrade() -> None:
    """Take it back."""
    op.drop_index("ix_record_history_replay", "record_history")
    op.drop_column("record_history", "replay_id")
    for table in ("adapter_versions", "reading_changes", "replay_pages", "replays"):
        op.drop_table(table)
