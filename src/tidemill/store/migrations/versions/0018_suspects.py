"""Deaths of workers are counted with the job whose page was being read, and suspects have an index of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_SUSPECTS = sa.text("deaths >= 2 AND status IN ('waiting', 'leased')")


def upgrade() -> None:
    """Add the column and the index."""
    op.add_column("pipeline_jobs", sa.Column("deaths", sa.Integer, nullable=False, server_default="0"))
    op.create_index(
        "ix_jobs_suspects", "pipeline_jobs", ["status", "id"], sqlite_where=_SUSPECTS, postgresql_where=_SUSPECTS
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_jobs_suspects", "pipeline_jobs")
    op.drop_column("pipeline_jobs", "deaths")
