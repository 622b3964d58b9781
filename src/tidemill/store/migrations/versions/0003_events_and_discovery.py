"""Discovery, places, links between events, proposals, and lists over several pages."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.columns import Key

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add what events and discovery need."""
    _pages_of_lists()


def downgrade() -> None:
    """Take it away again."""
    op.drop_table("target_pages")
    with op.batch_alter_table("pipeline_jobs") as jobs:
        jobs.drop_constraint("uq_pipeline_jobs_target_id_due_at_page_number", type_="unique")
        jobs.drop_column("page_number")
        jobs.create_unique_constraint("uq_pipeline_jobs_target_id_due_at", ["target_id", "due_at"])
    op.drop_column("scrape_runs", "pages_followed")
    op.drop_column("scraper_sources", "max_pages")


def _pages_of_lists() -> None:
    """A job is one page of a target's list; the further pages have something of their own to compare with."""
    op.add_column("scraper_sources", sa.Column("max_pages", sa.Integer(), nullable=True))
    op.add_column("scrape_runs", sa.Column("pages_followed", sa.Integer(), server_default="0", nullable=False))
    with op.batch_alter_table("pipeline_jobs") as jobs:
        jobs.add_column(sa.Column("page_number", sa.Integer(), server_default="1", nullable=False))
        jobs.drop_constraint("uq_pipeline_jobs_target_id_due_at", type_="unique")
        jobs.create_unique_constraint(
            "uq_pipeline_jobs_target_id_due_at_page_number", ["target_id", "due_at", "page_number"]
        )
    op.create_table(
        "target_pages",
        sa.Column("target_id", Key, autoincrement=False, nullable=False),
        sa.Column("page_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), server_default="", nullable=False),
        sa.Column("last_modified", sa.Text(), server_default="", nullable=False),
        sa.Column("good_page_id", Key, nullable=True),
        sa.Column("good_digest", sa.BigInteger(), nullable=True),
        sa.Column("good_reader", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["target_id"], ["scrape_targets.id"], name=op.f("fk_target_pages_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("target_id", "page_number", name=op.f("pk_target_pages")),
    )
