"""Places of any country for discovery: their country, language and time zone."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

COLUMNS = {"country": "NL", "language": "nl", "time_zone": "Europe/Amsterdam"}


def upgrade() -> None:
    """Add the columns."""
    for name, value in COLUMNS.items():
        op.add_column("municipalities", sa.Column(name, sa.Text, nullable=False, server_default=value))


def downgrade() -> None:
    """Drop them."""
    for name in COLUMNS:
        op.drop_column("municipalities", name)
