"""The good and bad minutes of freshness objectives, by the hour."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Timestamp

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "objective_hours",
        sa.Column("objective", sa.Text(), nullable=False),
        sa.Column("hour", Timestamp(), nullable=False),
        sa.Column("counted", sa.BigInteger(), nullable=False),
        sa.Column("bad", sa.BigInteger(), nullable=False),
        sa.Column("active", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("checked", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("updated_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("objective", "hour", name=op.f("pk_objective_hours")),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_table("objective_hours")
