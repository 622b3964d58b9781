"""Contexts of what is watched live, their log, failed tries and recoveries."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "scraper_contexts",
        sa.Column("process", sa.Text(), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.Column("updated_at", Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("process", name=op.f("pk_scraper_contexts")),
    )
    _log()
    _errors()
    op.create_table(
        "recoveries",
        sa.Column("entry_id", sa.Text(), nullable=False),
        sa.Column("timestamp", Timestamp(), nullable=False),
        sa.Column("action_type", sa.Text(), nullable=False),
        sa.Column("trigger_condition", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("duration_seconds", sa.Float(), nullable=False),
        sa.Column("metadata", Json, nullable=False),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_recoveries")),
    )
    op.create_index("ix_recoveries_timestamp", "recoveries", ["timestamp"])


def _log() -> None:
    op.create_table(
        "scraper_health_log",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("scraper_id", sa.Text(), nullable=False),
        sa.Column("match_id", sa.Text()),
        sa.Column("timestamp", Timestamp(), nullable=False),
        sa.Column("health_status", sa.Text(), nullable=False),
        sa.Column("error_count", sa.Integer(), nullable=False),
        sa.Column("memory_mb", sa.Float()),
        sa.Column("cpu_percent", sa.Float()),
        sa.Column("update_latency_ms", sa.Integer()),
        sa.Column("polling_interval_seconds", sa.Float()),
        sa.Column("uptime_seconds", sa.Integer()),
        sa.Column("last_update_age_seconds", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scraper_health_log")),
    )
    op.create_index("idx_health_scraper_timestamp", "scraper_health_log", ["scraper_id", "timestamp"])
    op.create_index("idx_health_match_timestamp", "scraper_health_log", ["match_id", "timestamp"])
    op.create_index("idx_health_status", "scraper_health_log", ["health_status", "timestamp"])


def _errors() -> None:
    op.create_table(
        "scraper_errors",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("scraper_id", sa.Text(), nullable=False),
        sa.Column("match_id", sa.Text()),
        sa.Column("timestamp", Timestamp(), nullable=False),
        sa.Column("error_type", sa.Text(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=False),
        sa.Column("stack_trace", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("retry_attempt", sa.Integer(), nullable=False),
        sa.Column("resolved", sa.Boolean(), nullable=False),
        sa.Column("resolution_time", Timestamp()),
        sa.Column("resolution_method", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scraper_errors")),
    )
    op.create_index("idx_errors_scraper_timestamp", "scraper_errors", ["scraper_id", "timestamp"])
    op.create_index("idx_error_type", "scraper_errors", ["error_type", "timestamp"])
    op.create_index("idx_unresolved", "scraper_errors", ["resolved", "timestamp"])


def downgrade() -> None:
    """Take it back."""
    for table in ("recoveries", "scraper_errors", "scraper_health_log", "scraper_contexts"):
        op.drop_table(table)
