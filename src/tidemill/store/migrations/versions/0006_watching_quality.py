"""Drift, review of what was set aside, and notices of what changed."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "drift_standings",
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("source_id", Key, autoincrement=False, nullable=False),
        sa.Column("failed_batches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("empty_runs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("zero_price_runs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("watched", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("last_run_id", Key, nullable=True),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("adapter_id", "source_id", name=op.f("pk_drift_standings")),
    )
    op.create_table(
        "field_baselines",
        sa.Column("source_id", Key, autoincrement=False, nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("blessed_by", sa.Text(), nullable=False),
        sa.Column("blessed_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("source_id", "field", name=op.f("pk_field_baselines")),
    )
    op.create_table(
        "quality_incidents",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("field", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("run_id", Key, nullable=False),
        sa.Column("times", sa.Integer(), server_default="1", nullable=False),
        sa.Column("opened_at", Timestamp(timezone=True), nullable=False),
        sa.Column("last_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("closed_at", Timestamp(timezone=True), nullable=True),
        sa.Column("closed_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quality_incidents")),
    )
    op.create_index(
        "ix_quality_incidents_open",
        "quality_incidents",
        ["adapter_id", "source_id"],
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("subscription_id", Key, nullable=False),
        sa.Column("notice_key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt_at", Timestamp(timezone=True), nullable=True),
        sa.Column("last_code", sa.Integer(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.Column("delivered_at", Timestamp(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
        sa.UniqueConstraint(
            "subscription_id", "notice_key", name=op.f("uq_webhook_deliveries_subscription_id_notice_key")
        ),
    )
    op.create_index("ix_webhook_deliveries_created", "webhook_deliveries", ["created_at"])
    op.create_index(
        "ix_webhook_deliveries_due",
        "webhook_deliveries",
        ["next_attempt_at"],
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_table(
        "webhook_subscriptions",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("kinds", Json(), nullable=False),
        sa.Column("product_id", Key, nullable=True),
        sa.Column("least_drop_percent", sa.Float(), server_default="0", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_subscriptions")),
        sa.UniqueConstraint("name", name=op.f("uq_webhook_subscriptions_name")),
    )
    op.add_column("rejected_records", sa.Column("review", sa.Text(), nullable=True))
    op.add_column("rejected_records", sa.Column("reviewed_by", sa.Text(), nullable=True))
    op.add_column("rejected_records", sa.Column("reviewed_at", Timestamp(timezone=True), nullable=True))
    op.add_column("rejected_records", sa.Column("review_notes", sa.Text(), nullable=True))
    op.create_index(
        "ix_rejected_records_waiting",
        "rejected_records",
        ["id"],
        sqlite_where=sa.text("verdict = 'quarantined' AND review IS NULL"),
        postgresql_where=sa.text("verdict = 'quarantined' AND review IS NULL"),
    )
    op.add_column("scrape_runs", sa.Column("urls_drifted", sa.Integer(), server_default="0", nullable=False))
    op.add_column("scrape_runs", sa.Column("oos_no_price_count", sa.Integer(), server_default="0", nullable=False))
    op.add_column("scrape_runs", sa.Column("zero_price_count", sa.Integer(), server_default="0", nullable=False))
    op.add_column("scrape_runs", sa.Column("field_counts", Json(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    for column in ("field_counts", "zero_price_count", "oos_no_price_count", "urls_drifted"):
        op.drop_column("scrape_runs", column)
    op.drop_index("ix_rejected_records_waiting", "rejected_records")
    for column in ("review_notes", "reviewed_at", "reviewed_by", "review"):
        op.drop_column("rejected_records", column)
    for table in ("webhook_deliveries", "webhook_subscriptions", "field_baselines", "quality_incidents"):
        op.drop_table(table)
    op.drop_table("drift_standings")
