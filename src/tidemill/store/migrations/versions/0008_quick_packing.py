"""PostgreSQL packs pages and readings with lz4, where it can: its own method took a third of the server's time."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_PACKED = (("page_bodies", "body"), ("raw_records", "found"), ("staged_records", "staged"))
_KNOWS_LZ4 = sa.text("SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")


def upgrade() -> None:
    """Take the step; what is packed already stays as it is."""
    _pack_with("lz4")


def downgrade() -> None:
    """Take it back."""
    _pack_with("pglz")


def _pack_with(method: str) -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql" and connection.execute(_KNOWS_LZ4).scalar():
        for table, column in _PACKED:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET COMPRESSION {method}")
