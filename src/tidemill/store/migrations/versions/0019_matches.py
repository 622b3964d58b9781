"""Matches: the canonical ones, what each source calls them, and where sources disagree."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "matches",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("teams", Json(), nullable=False),
        sa.Column("series", sa.Text(), nullable=False),
        sa.Column("match_type", sa.Text(), nullable=False),
        sa.Column("starts_at", Timestamp()),
        sa.Column("merged_into", sa.Text()),
        sa.Column("created_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_matches")),
    )
    op.create_index("ix_matches_starts", "matches", ["starts_at"])
    op.create_table(
        "match_ids",
        sa.Column("source_id", Key, autoincrement=False, nullable=False),
        sa.Column("source_key", sa.Text(), nullable=False),
        sa.Column("match_key", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("doubt", sa.Text(), nullable=False),
        sa.Column("settled_by", sa.Text()),
        sa.Column("first_seen_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("source_id", "source_key", name=op.f("pk_match_ids")),
    )
    op.create_index("ix_match_ids_match", "match_ids", ["match_key"])
    op.create_table(
        "match_conflicts",
        sa.Column("match_key", sa.Text(), nullable=False),
        sa.Column("found_at", Timestamp(), nullable=False),
        sa.Column("other_source", sa.Text(), nullable=False),
        sa.Column("innings", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("shown_source", sa.Text(), nullable=False),
        sa.Column("shown_value", sa.Integer(), nullable=False),
        sa.Column("other_value", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "match_key", "found_at", "other_source", "innings", "field", name=op.f("pk_match_conflicts")
        ),
    )


def downgrade() -> None:
    """Take it back."""
    for table in ("match_conflicts", "match_ids", "matches"):
        op.drop_table(table)
