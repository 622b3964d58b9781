"""Open jobs have an index of their own: whether a target is at work must not depend on how often it was before."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_OPEN = sa.text("status IN ('ready', 'waiting', 'leased')")
_STALE = sa.text("status = 'stale'")


def upgrade() -> None:
    """Make the indexes."""
    op.create_index("ix_jobs_open", "pipeline_jobs", ["target_id"], sqlite_where=_OPEN, postgresql_where=_OPEN)
    op.create_index("ix_jobs_stale", "pipeline_jobs", ["id"], sqlite_where=_STALE, postgresql_where=_STALE)


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_jobs_stale", "pipeline_jobs")
    op.drop_index("ix_jobs_open", "pipeline_jobs")
