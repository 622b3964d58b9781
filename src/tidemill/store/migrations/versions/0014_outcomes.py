"""Quarantine has one open row per subject and reason; runs count the pages that yielded nothing usable."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Timestamp

revision = "0014"
down_revision = "0013"

_INDEX = "uq_rejected_records_open_subject"
_OPEN = sa.text("verdict = 'quarantined' AND review IS NULL AND subject <> ''")


def upgrade() -> None:
    """Add the columns; rows of before have no subject, and stay as they are until a person decides."""
    op.add_column("scrape_runs", sa.Column("urls_unusable", sa.Integer, nullable=False, server_default="0"))
    op.add_column("rejected_records", sa.Column("subject", sa.Text, nullable=False, server_default=""))
    op.add_column("rejected_records", sa.Column("times", sa.Integer, nullable=False, server_default="1"))
    op.add_column("rejected_records", sa.Column("last_seen_at", Timestamp()))
    op.create_index(
        _INDEX,
        "rejected_records",
        ["source_id", "subject", "reason"],
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index(_INDEX, "rejected_records")
    for name in ("last_seen_at", "times", "subject"):
        op.drop_column("rejected_records", name)
    op.drop_column("scrape_runs", "urls_unusable")
