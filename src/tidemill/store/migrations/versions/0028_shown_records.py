"""What readers saw of records until something else took its place, and which records were seen when."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Key, Timestamp

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "shown_records",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("record_id", Key, nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("shown_from", Timestamp(), nullable=False),
        sa.Column("shown_until", Timestamp(), nullable=False),
        sa.Column("shown", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shown_records")),
    )
    op.create_index("ix_shown_records_place", "shown_records", ["vertical", "place", "record_id"])
    op.create_index("ix_shown_records_until", "shown_records", ["shown_until"])
    op.create_table(
        "seen_records",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("seen_at", Timestamp(), nullable=False),
        sa.Column("records", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seen_records")),
    )
    op.create_index("ix_seen_records_at", "seen_records", ["vertical", "seen_at"])


def downgrade() -> None:
    """Take it back."""
    op.drop_table("seen_records")
    op.drop_table("shown_records")
