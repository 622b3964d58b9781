"""What fetching and outside services remember."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "service_status",
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("since", Timestamp(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("seen_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("service", name=op.f("pk_service_status")),
    )
    op.create_table(
        "service_spend",
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("hour", Timestamp(timezone=True), nullable=False),
        sa.Column("amount", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("calls", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("service", "hour", name=op.f("pk_service_spend")),
    )
    op.create_table(
        "actor_runs",
        sa.Column("job_id", Key, autoincrement=False, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("dataset_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("timeout_seconds", sa.Integer(), nullable=False),
        sa.Column("reserved", sa.BigInteger(), nullable=False),
        sa.Column("started_at", Timestamp(timezone=True), nullable=False),
        sa.Column("ended_at", Timestamp(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_actor_runs")),
    )
    op.create_index("ix_actor_runs_started", "actor_runs", ["started_at"])
    op.create_table(
        "fetcher_upgrades",
        sa.Column("source_id", Key, autoincrement=False, nullable=False),
        sa.Column("fetcher", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("times", sa.Integer(), server_default="1", nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("suggested_at", Timestamp(timezone=True), nullable=False),
        sa.Column("last_at", Timestamp(timezone=True), nullable=False),
        sa.Column("decided_at", Timestamp(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"], ["scraper_sources.id"], name=op.f("fk_fetcher_upgrades_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source_id", name=op.f("pk_fetcher_upgrades")),
    )
    op.create_table(
        "page_screenshots",
        sa.Column("page_id", Key, autoincrement=False, nullable=False),
        sa.Column("picture", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_page_screenshots")),
    )
    op.add_column("scrape_runs", sa.Column("degraded", Json(), nullable=True))
    op.add_column("hosts", sa.Column("guests", sa.Integer(), server_default="0", nullable=False))
    op.add_column("hosts", sa.Column("guests_until", Timestamp(timezone=True), nullable=True))


def downgrade() -> None:
    """Take it back."""
    op.drop_column("hosts", "guests_until")
    op.drop_column("hosts", "guests")
    op.drop_column("scrape_runs", "degraded")
    for table in ("page_screenshots", "fetcher_upgrades", "actor_runs", "service_spend", "service_status"):
        op.drop_table(table)
