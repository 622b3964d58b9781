"""The first tables."""

import sqlalchemy as sa
from alembic import op

from tidemill.store.database.column_types import Json, Key, Timestamp

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


_VIEW = """
CREATE VIEW source_health_status AS
SELECT
  s.*,
  COALESCE(cb.state, 'CLOSED') AS circuit_state,
  COALESCE(cb.failure_count, 0) AS failure_count,
  cb.cooldown_until,
  COALESCE(cb.consecutive_opens, 0) AS consecutive_opens,
  CASE
    WHEN NOT s.enabled THEN FALSE
    WHEN s.auto_disabled THEN FALSE
    WHEN cb.state = 'OPEN' AND cb.cooldown_until > {now} THEN FALSE
    ELSE TRUE
  END AS is_available
FROM scraper_sources s
LEFT JOIN circuit_breaker_state cb ON s.id = cb.source_id
"""
_NOW = {"sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)", "postgresql": "now()"}
VIEW = {name: _VIEW.format(now=now) for name, now in _NOW.items()}

ALREADY_SMALL = (
    ("page_bodies", "body"), ("raw_records", "found"), ("staged_records", "staged"), ("events", "record"),
)  # fmt: skip
"""Columns that PostgreSQL would press a second time: a third of the server's work per page, for nothing."""


def upgrade() -> None:
    """Take the step."""
    tables()
    dialect = op.get_bind().dialect.name
    if dialect == "postgresql":
        for table, column in ALREADY_SMALL:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.execute(VIEW[dialect])


def tables() -> None:
    """Every table of the first release."""
    op.create_table(
        "audit_log",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", Json(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_table(
        "dead_letter_queue",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("job_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("target_id", Key, nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("error_type", sa.Text(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=False),
        sa.Column("error_stack", sa.Text(), server_default="", nullable=False),
        sa.Column("payload", Json(), nullable=False),
        sa.Column("retry_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("max_retries", sa.Integer(), server_default="3", nullable=False),
        sa.Column("next_retry_at", Timestamp(timezone=True), nullable=True),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("resolved_at", Timestamp(timezone=True), nullable=True),
        sa.Column("resolution_notes", sa.Text(), nullable=True),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dead_letter_queue")),
        sa.UniqueConstraint("job_id", name=op.f("uq_dead_letter_queue_job_id")),
    )
    with op.batch_alter_table("dead_letter_queue", schema=None) as batch_op:
        batch_op.create_index(
            "ix_dead_letter_queue_due",
            ["next_retry_at"],
            unique=False,
            sqlite_where=sa.text("status = 'pending'"),
            postgresql_where=sa.text("status = 'pending'"),
        )

    op.create_table(
        "engine_state",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", Json(), nullable=False),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_engine_state")),
    )
    op.create_table(
        "events",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("event_fingerprint", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("event_date", Timestamp(timezone=True), nullable=False),
        sa.Column("ends_at", Timestamp(timezone=True), nullable=True),
        sa.Column("event_time", sa.Text(), nullable=False),
        sa.Column("venue_name", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("page_id", Key, nullable=False),
        sa.Column("first_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("last_seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.Column("times_seen", sa.Integer(), server_default="1", nullable=False),
        sa.Column("missed_runs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gone_at", Timestamp(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("source_id", "identity", name=op.f("uq_events_source_id_identity")),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index("ix_events_date", ["event_date", "id"], unique=False)

    op.create_table(
        "hosts",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("interval_ms", sa.Integer(), nullable=False),
        sa.Column("burst", sa.Integer(), nullable=False),
        sa.Column("parallel", sa.Integer(), nullable=False),
        sa.Column("crawl_delay_ms", sa.Integer(), nullable=True),
        sa.Column("tab_at", Timestamp(timezone=True), nullable=True),
        sa.Column("opens_at", Timestamp(timezone=True), nullable=False),
        sa.Column("served_at", Timestamp(timezone=True), nullable=True),
        sa.Column("has_work", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_hosts")),
    )
    with op.batch_alter_table("hosts", schema=None) as batch_op:
        batch_op.create_index(
            "ix_hosts_with_work",
            ["opens_at"],
            unique=False,
            sqlite_where=sa.text("has_work"),
            postgresql_where=sa.text("has_work"),
        )

    op.create_table(
        "id_blocks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("next_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_id_blocks")),
    )
    op.create_table(
        "market_configs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=False),
        sa.Column("city", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("max_listings_per_scrape", sa.Integer(), server_default="100", nullable=False),
        sa.Column("scrape_frequency_hours", sa.Integer(), nullable=True),
        sa.Column("last_scrape_at", Timestamp(timezone=True), nullable=True),
        sa.Column("last_scrape_status", sa.Text(), nullable=True),
        sa.Column("consecutive_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_market_configs")),
    )
    op.create_table(
        "page_bodies",
        sa.Column("key", sa.LargeBinary(length=16), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=True),
        sa.Column("place", sa.BigInteger(), nullable=True),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("encoding", sa.Text(), server_default="", nullable=False),
        sa.Column("base_key", sa.LargeBinary(length=16), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_page_bodies")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("page_bodies", schema=None) as batch_op:
        batch_op.create_index(
            "ix_page_bodies_base",
            ["base_key"],
            unique=False,
            sqlite_where=sa.text("base_key IS NOT NULL"),
            postgresql_where=sa.text("base_key IS NOT NULL"),
        )

    op.create_table(
        "pipeline_jobs",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("run_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("target_id", Key, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("due_at", Timestamp(timezone=True), nullable=False),
        sa.Column("current_stage", sa.Text(), server_default="fetch", nullable=False),
        sa.Column("status", sa.Text(), server_default="ready", nullable=False),
        sa.Column("rank", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("max_attempts", sa.Integer(), server_default="3", nullable=False),
        sa.Column("fence", sa.Integer(), server_default="0", nullable=False),
        sa.Column("leased_by", Key, nullable=True),
        sa.Column("leased_at", Timestamp(timezone=True), nullable=True),
        sa.Column("not_before", Timestamp(timezone=True), nullable=True),
        sa.Column("page_id", Key, nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.Column("started_at", Timestamp(timezone=True), nullable=True),
        sa.Column("completed_at", Timestamp(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipeline_jobs")),
        sa.UniqueConstraint("target_id", "due_at", name=op.f("uq_pipeline_jobs_target_id_due_at")),
    )
    with op.batch_alter_table("pipeline_jobs", schema=None) as batch_op:
        batch_op.create_index("ix_jobs_created", ["created_at"], unique=False)
        batch_op.create_index(
            "ix_jobs_leased",
            ["host"],
            unique=False,
            sqlite_where=sa.text("status = 'leased'"),
            postgresql_where=sa.text("status = 'leased'"),
        )
        batch_op.create_index(
            "ix_jobs_ready",
            ["host", "lane", "rank", "id"],
            unique=False,
            sqlite_where=sa.text("status = 'ready' AND current_stage = 'fetch'"),
            postgresql_where=sa.text("status = 'ready' AND current_stage = 'fetch'"),
        )
        batch_op.create_index(
            "ix_jobs_resumed",
            ["lane", "rank", "id"],
            unique=False,
            sqlite_where=sa.text("status = 'ready' AND current_stage <> 'fetch'"),
            postgresql_where=sa.text("status = 'ready' AND current_stage <> 'fetch'"),
        )
        batch_op.create_index("ix_jobs_run", ["run_id"], unique=False)
        batch_op.create_index(
            "ix_jobs_waiting",
            ["not_before"],
            unique=False,
            sqlite_where=sa.text("status = 'waiting'"),
            postgresql_where=sa.text("status = 'waiting'"),
        )

    op.create_table(
        "raw_pages",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("job_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("target_id", Key, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("final_url", sa.Text(), nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=False),
        sa.Column("headers", Json(), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("charset", sa.Text(), nullable=False),
        sa.Column("fetcher_used", sa.Text(), nullable=False),
        sa.Column("fetch_duration_ms", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.BigInteger(), nullable=False),
        sa.Column("body_key", sa.LargeBinary(length=16), nullable=False),
        sa.Column("body_length", sa.Integer(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raw_pages")),
    )
    with op.batch_alter_table("raw_pages", schema=None) as batch_op:
        batch_op.create_index("ix_raw_pages_created", ["created_at"], unique=False)
        batch_op.create_index("ix_raw_pages_target", ["target_id", "id"], unique=False)

    op.create_table(
        "raw_records",
        sa.Column("page_id", Key, autoincrement=False, nullable=False),
        sa.Column("job_id", Key, nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("adapter_version", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("found", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_raw_records")),
    )
    op.create_table(
        "record_history",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("record_id", Key, nullable=False),
        sa.Column("run_id", Key, nullable=False),
        sa.Column("page_id", Key, nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("changes", Json(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_record_history")),
    )
    with op.batch_alter_table("record_history", schema=None) as batch_op:
        batch_op.create_index("ix_record_history_record", ["vertical", "record_id"], unique=False)

    op.create_table(
        "rejected_records",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("job_id", Key, nullable=False),
        sa.Column("run_id", Key, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("page_id", Key, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("raw", Json(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejected_records")),
        sa.UniqueConstraint("page_id", "position", name=op.f("uq_rejected_records_page_id_position")),
    )
    with op.batch_alter_table("rejected_records", schema=None) as batch_op:
        batch_op.create_index("ix_rejected_records_source", ["source_id", "created_at"], unique=False)

    op.create_table(
        "scrape_adapter_status",
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("disabled_at", Timestamp(timezone=True), nullable=True),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("disabled_by", sa.Text(), nullable=True),
        sa.Column("baseline_failure_rate", sa.Float(), nullable=True),
        sa.Column("baseline_yield_rate", sa.Float(), nullable=True),
        sa.Column("baseline_sample_size", sa.Integer(), server_default="0", nullable=False),
        sa.Column("baseline_updated_at", Timestamp(timezone=True), nullable=True),
        sa.Column("consecutive_failed_batches", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_batch_failure_rate", sa.Float(), nullable=True),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("adapter_id", name=op.f("pk_scrape_adapter_status")),
    )
    op.create_table(
        "scraper_sources",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("fetcher", sa.Text(), server_default="http", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("auto_disabled", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("tier", sa.Text(), server_default="standard", nullable=False),
        sa.Column("time_zone", sa.Text(), server_default="Europe/Amsterdam", nullable=False),
        sa.Column("language", sa.Text(), server_default="nl", nullable=False),
        sa.Column("city", sa.Text(), server_default="", nullable=False),
        sa.Column("latitude", sa.Float(), nullable=True),
        sa.Column("longitude", sa.Float(), nullable=True),
        sa.Column("reliability", sa.Float(), server_default="1", nullable=False),
        sa.Column("historical_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("consecutive_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_success_at", Timestamp(timezone=True), nullable=True),
        sa.Column("last_scraped_at", Timestamp(timezone=True), nullable=True),
        sa.Column("precedence", sa.Integer(), server_default="50", nullable=False),
        sa.Column("pace_interval_ms", sa.Integer(), nullable=True),
        sa.Column("pace_burst", sa.Integer(), nullable=True),
        sa.Column("pace_parallel", sa.Integer(), nullable=True),
        sa.Column("timeout_ms", sa.Integer(), nullable=True),
        sa.Column("headers", Json(), server_default="{}", nullable=False),
        sa.Column("tos_reviewed_at", Timestamp(timezone=True), nullable=True),
        sa.Column("tos_approved_by", sa.Text(), nullable=True),
        sa.Column("robots_compliant", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("visibility", sa.Text(), server_default="INELIGIBLE", nullable=False),
        sa.Column("trust", Json(), server_default="{}", nullable=False),
        sa.Column("adapter_settings", Json(), server_default="{}", nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scraper_sources")),
        sa.UniqueConstraint("name", name=op.f("uq_scraper_sources_name")),
    )
    op.create_table(
        "staged_records",
        sa.Column("page_id", Key, autoincrement=False, nullable=False),
        sa.Column("job_id", Key, nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("dropped", sa.Integer(), nullable=False),
        sa.Column("quarantined", sa.Integer(), nullable=False),
        sa.Column("staged", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_staged_records")),
    )
    op.create_table(
        "tick_slots",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("slot", Timestamp(timezone=True), nullable=False),
        sa.Column("worker_id", Key, nullable=False),
        sa.Column("started_at", Timestamp(timezone=True), nullable=False),
        sa.Column("finished_at", Timestamp(timezone=True), nullable=True),
        sa.Column("status", sa.Text(), server_default="running", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("name", "slot", name=op.f("pk_tick_slots")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "workers",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started_at", Timestamp(timezone=True), nullable=False),
        sa.Column("seen_at", Timestamp(timezone=True), nullable=False),
        sa.Column("ended_at", Timestamp(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
    op.create_table(
        "circuit_breaker_state",
        sa.Column("source_id", Key, autoincrement=False, nullable=False),
        sa.Column("state", sa.Text(), server_default="CLOSED", nullable=False),
        sa.Column("failure_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("success_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_failure_at", Timestamp(timezone=True), nullable=True),
        sa.Column("cooldown_until", Timestamp(timezone=True), nullable=True),
        sa.Column("consecutive_opens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("total_calls", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total_successes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total_failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total_rejections", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("changed_at", Timestamp(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["scraper_sources.id"], name=op.f("fk_circuit_breaker_state_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source_id", name=op.f("pk_circuit_breaker_state")),
    )
    op.create_table(
        "scrape_runs",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("vertical", sa.Text(), nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("adapter_version", sa.Text(), server_default="", nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="RUNNING", nullable=False),
        sa.Column("open_jobs", sa.Integer(), nullable=False),
        sa.Column("started_at", Timestamp(timezone=True), nullable=False),
        sa.Column("completed_at", Timestamp(timezone=True), nullable=True),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.Column("urls_attempted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("urls_succeeded", sa.Integer(), server_default="0", nullable=False),
        sa.Column("urls_failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("urls_refused", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages_unchanged", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_read", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_accepted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_dropped", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_quarantined", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_inserted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_updated", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_unchanged", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_repeated", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_seen_again", sa.Integer(), server_default="0", nullable=False),
        sa.Column("records_removed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("truncated_pages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("claimed_total", sa.Integer(), nullable=True),
        sa.Column("failure_rate", sa.Float(), nullable=True),
        sa.Column("yield_rate", sa.Float(), nullable=True),
        sa.Column("drop_rate", sa.Float(), nullable=True),
        sa.Column("complete", sa.Boolean(), nullable=True),
        sa.Column("doubts", Json(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["source_id"], ["scraper_sources.id"], name=op.f("fk_scrape_runs_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scrape_runs")),
    )
    with op.batch_alter_table("scrape_runs", schema=None) as batch_op:
        batch_op.create_index(
            "ix_scrape_runs_running",
            ["id"],
            unique=False,
            sqlite_where=sa.text("status = 'RUNNING'"),
            postgresql_where=sa.text("status = 'RUNNING'"),
        )
        batch_op.create_index("ix_scrape_runs_source", ["source_id", "started_at"], unique=False)

    op.create_table(
        "scrape_targets",
        sa.Column("id", Key, autoincrement=False, nullable=False),
        sa.Column("source_id", Key, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("canonical_url", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("adapter_id", sa.Text(), nullable=False),
        sa.Column("schedule", sa.Text(), nullable=True),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.Text(), server_default="ACTIVE", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("robots_path_blocked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("last_scraped_at", Timestamp(timezone=True), nullable=True),
        sa.Column("last_status", sa.Text(), nullable=True),
        sa.Column("consecutive_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_due_at", Timestamp(timezone=True), nullable=True),
        sa.Column("adapted_seconds", sa.Integer(), nullable=True),
        sa.Column("etag", sa.Text(), server_default="", nullable=False),
        sa.Column("last_modified", sa.Text(), server_default="", nullable=False),
        sa.Column("good_page_id", Key, nullable=True),
        sa.Column("good_digest", sa.BigInteger(), nullable=True),
        sa.Column("good_reader", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("created_at", Timestamp(timezone=True), nullable=False),
        sa.Column("updated_at", Timestamp(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["scraper_sources.id"], name=op.f("fk_scrape_targets_source_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scrape_targets")),
        sa.UniqueConstraint("source_id", "canonical_url", name=op.f("uq_scrape_targets_source_id_canonical_url")),
    )
    with op.batch_alter_table("scrape_targets", schema=None) as batch_op:
        batch_op.create_index(
            "ix_scrape_targets_due",
            ["next_due_at"],
            unique=False,
            sqlite_where=sa.text("enabled"),
            postgresql_where=sa.text("enabled"),
        )


def downgrade() -> None:
    """Take it back."""
    op.execute("DROP VIEW source_health_status")
    with op.batch_alter_table("scrape_targets", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_scrape_targets_due", sqlite_where=sa.text("enabled"), postgresql_where=sa.text("enabled")
        )

    op.drop_table("scrape_targets")
    with op.batch_alter_table("scrape_runs", schema=None) as batch_op:
        batch_op.drop_index("ix_scrape_runs_source")
        batch_op.drop_index(
            "ix_scrape_runs_running",
            sqlite_where=sa.text("status = 'RUNNING'"),
            postgresql_where=sa.text("status = 'RUNNING'"),
        )

    op.drop_table("scrape_runs")
    op.drop_table("circuit_breaker_state")
    op.drop_table("workers")
    op.drop_table("tick_slots")
    op.drop_table("staged_records")
    op.drop_table("scraper_sources")
    op.drop_table("scrape_adapter_status")
    with op.batch_alter_table("rejected_records", schema=None) as batch_op:
        batch_op.drop_index("ix_rejected_records_source")

    op.drop_table("rejected_records")
    with op.batch_alter_table("record_history", schema=None) as batch_op:
        batch_op.drop_index("ix_record_history_record")

    op.drop_table("record_history")
    op.drop_table("raw_records")
    with op.batch_alter_table("raw_pages", schema=None) as batch_op:
        batch_op.drop_index("ix_raw_pages_target")
        batch_op.drop_index("ix_raw_pages_created")

    op.drop_table("raw_pages")
    with op.batch_alter_table("pipeline_jobs", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_jobs_waiting",
            sqlite_where=sa.text("status = 'waiting'"),
            postgresql_where=sa.text("status = 'waiting'"),
        )
        batch_op.drop_index("ix_jobs_run")
        batch_op.drop_index(
            "ix_jobs_resumed",
            sqlite_where=sa.text("status = 'ready' AND current_stage <> 'fetch'"),
            postgresql_where=sa.text("status = 'ready' AND current_stage <> 'fetch'"),
        )
        batch_op.drop_index(
            "ix_jobs_ready",
            sqlite_where=sa.text("status = 'ready' AND current_stage = 'fetch'"),
            postgresql_where=sa.text("status = 'ready' AND current_stage = 'fetch'"),
        )
        batch_op.drop_index(
            "ix_jobs_leased", sqlite_where=sa.text("status = 'leased'"), postgresql_where=sa.text("status = 'leased'")
        )
        batch_op.drop_index("ix_jobs_created")

    op.drop_table("pipeline_jobs")
    with op.batch_alter_table("page_bodies", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_page_bodies_base",
            sqlite_where=sa.text("base_key IS NOT NULL"),
            postgresql_where=sa.text("base_key IS NOT NULL"),
        )

    op.drop_table("page_bodies")
    op.drop_table("market_configs")
    op.drop_table("id_blocks")
    with op.batch_alter_table("hosts", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_hosts_with_work", sqlite_where=sa.text("has_work"), postgresql_where=sa.text("has_work")
        )

    op.drop_table("hosts")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_index("ix_events_date")

    op.drop_table("events")
    op.drop_table("engine_state")
    with op.batch_alter_table("dead_letter_queue", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_dead_letter_queue_due",
            sqlite_where=sa.text("status = 'pending'"),
            postgresql_where=sa.text("status = 'pending'"),
        )

    op.drop_table("dead_letter_queue")
    op.drop_table("audit_log")
