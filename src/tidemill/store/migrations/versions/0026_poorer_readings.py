"""How targets' last good pages were read, and how many pages of a run were read worse."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json

revision = "0026"
down_revision = "0025"

_POORER = sa.text("last_status = 'POORER_READING'")


def upgrade() -> None:
    """Add the columns, and an index on the few targets that are read worse."""
    op.add_column("scrape_targets", sa.Column("good_shape", Json))
    op.add_column("target_pages", sa.Column("good_shape", Json))
    op.add_column("scrape_runs", sa.Column("poorer_pages", sa.Integer, nullable=False, server_default="0"))
    op.create_index(
        "ix_scrape_targets_poorer", "scrape_targets", ["source_id"], sqlite_where=_POORER, postgresql_where=_POORER
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_scrape_targets_poorer", "scrape_targets")
    op.drop_column("scrape_runs", "poorer_pages")
    op.drop_column("target_pages", "good_shape")
    op.drop_column("scrape_targets", "good_shape")
