"""What stages make of a page may be kept in a segment file; its row then says where."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_TABLES = ("raw_records", "staged_records")
_WHEREABOUTS = (("segment", sa.Integer), ("place", sa.BigInteger), ("length", sa.Integer))


def upgrade() -> None:
    """Give the rows room to say it; what they hold already stays in them."""
    for table in _TABLES:
        for name, kind in _WHEREABOUTS:
            op.add_column(table, sa.Column(name, kind(), nullable=True))


def downgrade() -> None:
    """Take the room back. Outputs in segment files are then lost to their rows, and the rows go with them."""
    for table in _TABLES:
        op.execute(f"DELETE FROM {table} WHERE segment IS NOT NULL")  # noqa: S608 - our own words only
        with op.batch_alter_table(table) as altered:
            for name, _ in _WHEREABOUTS:
                altered.drop_column(name)
