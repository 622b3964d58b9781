"""Homes that no list shows any more are found at once, to be looked up before they are taken off."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_SUSPECTED = "is_active AND gone_reason IS NOT NULL"


def upgrade() -> None:
    """Take the step."""
    op.create_index(
        "ix_listings_suspected",
        "listings",
        ["id"],
        sqlite_where=sa.text(_SUSPECTED),
        postgresql_where=sa.text(_SUSPECTED),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_index("ix_listings_suspected", "listings")
