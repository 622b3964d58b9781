"""Runs, jobs and who holds them: the ledger."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from tidemill.store.database.column_types import Json, Key, Timestamp
from tidemill.store.database.metadata import SOURCE, metadata, partial

runs = Table(
    "scrape_runs",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("source_id", Key, ForeignKey(SOURCE, ondelete="CASCADE"), nullable=False),
    Column("vertical", Text, nullable=False),
    Column("adapter_id", Text, nullable=False),
    Column("adapter_version", Text, nullable=False, server_default=""),
    Column("trigger", Text, nullable=False),
    Column("status", Text, nullable=False, server_default="RUNNING"),
    Column("open_jobs", Integer, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("completed_at", Timestamp),
    Column("duration_ms", BigInteger),
    Column("urls_attempted", Integer, nullable=False, server_default="0"),
    Column("urls_succeeded", Integer, nullable=False, server_default="0"),
    Column("urls_failed", Integer, nullable=False, server_default="0"),
    Column("urls_refused", Integer, nullable=False, server_default="0"),
    Column("pages_unchanged", Integer, nullable=False, server_default="0"),
    Column("records_read", Integer, nullable=False, server_default="0"),
    Column("records_accepted", Integer, nullable=False, server_default="0"),
    Column("records_dropped", Integer, nullable=False, server_default="0"),
    Column("records_quarantined", Integer, nullable=False, server_default="0"),
    Column("records_inserted", Integer, nullable=False, server_default="0"),
    Column("records_updated", Integer, nullable=False, server_default="0"),
    Column("records_unchanged", Integer, nullable=False, server_default="0"),
    Column("records_repeated", Integer, nullable=False, server_default="0"),
    Column("records_seen_again", Integer, nullable=False, server_default="0"),
    Column("records_removed", Integer, nullable=False, server_default="0"),
    Column("truncated_pages", Integer, nullable=False, server_default="0"),
    Column("poorer_pages", Integer, nullable=False, server_default="0"),
    Column("pages_followed", Integer, nullable=False, server_default="0"),
    Column("urls_drifted", Integer, nullable=False, server_default="0"),
    Column("urls_unusable", Integer, nullable=False, server_default="0"),
    Column("oos_no_price_count", Integer, nullable=False, server_default="0"),
    Column("zero_price_count", Integer, nullable=False, server_default="0"),
    Column("field_counts", Json),
    Column("claimed_total", Integer),
    Column("failure_rate", Float),
    Column("yield_rate", Float),
    Column("drop_rate", Float),
    Column("complete", Boolean),
    Column("doubts", Json),
    Column("degraded", Json),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("scope", Text, nullable=False, server_default=""),
)
Index("ix_scrape_runs_source", runs.c.source_id, runs.c.started_at)
Index("ix_scrape_runs_started", runs.c.started_at)
partial("ix_scrape_runs_running", "status = 'RUNNING'", runs.c.id)

jobs = Table(
    "pipeline_jobs",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("run_id", Key, nullable=False),
    Column("source_id", Key, nullable=False),
    Column("target_id", Key, nullable=False),
    Column("vertical", Text, nullable=False),
    Column("adapter_id", Text, nullable=False),
    Column("lane", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("trigger", Text, nullable=False),
    Column("due_at", Timestamp, nullable=False),
    Column("current_stage", Text, nullable=False, server_default="fetch"),
    Column("status", Text, nullable=False, server_default="ready"),
    Column("rank", BigInteger, nullable=False, server_default="0"),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("max_attempts", Integer, nullable=False, server_default="3"),
    Column("fence", Integer, nullable=False, server_default="0"),
    Column("leased_by", Key),
    Column("leased_at", Timestamp),
    Column("not_before", Timestamp),
    Column("page_id", Key),
    Column("page_number", Integer, nullable=False, server_default="1"),
    Column("deaths", Integer, nullable=False, server_default="0"),
    Column("failure", Text),
    Column("last_error", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("started_at", Timestamp),
    Column("completed_at", Timestamp),
    UniqueConstraint("target_id", "due_at", "page_number"),
)
partial(
    "ix_jobs_ready", "status = 'ready' AND current_stage = 'fetch'", jobs.c.host, jobs.c.lane, jobs.c.rank, jobs.c.id
)
partial("ix_jobs_resumed", "status = 'ready' AND current_stage <> 'fetch'", jobs.c.lane, jobs.c.rank, jobs.c.id)
partial("ix_jobs_leased", "status = 'leased'", jobs.c.host)
partial("ix_jobs_waiting", "status = 'waiting'", jobs.c.not_before)
partial("ix_jobs_open", "status IN ('ready', 'waiting', 'leased')", jobs.c.target_id)
partial("ix_jobs_suspects", "deaths >= 2 AND status IN ('waiting', 'leased')", jobs.c.status, jobs.c.id)
partial("ix_jobs_stale", "status = 'stale'", jobs.c.id)
partial("ix_jobs_dead", "status = 'dead'", jobs.c.id)
Index("ix_jobs_run", jobs.c.run_id)
Index("ix_jobs_created", jobs.c.created_at)

IS_OPEN = text("pipeline_jobs.status IN ('ready', 'waiting', 'leased')")
"""Whether a job has not ended. Spelled out, not bound: only then does a planner know that the partial index will do."""

workers = Table(
    "workers",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("seen_at", Timestamp, nullable=False),
    Column("ended_at", Timestamp),
    Column("live_seen_at", Timestamp),
    Column("lanes", Text),
    Column("clock_skew_ms", BigInteger),
)
"""`seen_at` holds a worker's jobs, `live_seen_at` its watches, which are taken over sooner.

`lanes` are those whose jobs it takes, with a space between two: '' for a process that only does periodic work.
`clock_skew_ms` is how far its clock is ahead of the database's, where the two can differ."""

dead_letters = Table(
    "dead_letter_queue",
    metadata,
    Column("id", Key, primary_key=True, autoincrement=False),
    Column("job_id", Key, nullable=False, unique=True),
    Column("source_id", Key, nullable=False),
    Column("target_id", Key, nullable=False),
    Column("stage", Text, nullable=False),
    Column("error_type", Text, nullable=False),
    Column("error_message", Text, nullable=False),
    Column("error_stack", Text, nullable=False, server_default=""),
    Column("payload", Json, nullable=False),
    Column("retry_count", Integer, nullable=False, server_default="0"),
    Column("max_retries", Integer, nullable=False, server_default="3"),
    Column("next_retry_at", Timestamp),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("resolved_at", Timestamp),
    Column("resolution_notes", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
)
partial("ix_dead_letter_queue_due", "status = 'pending'", dead_letters.c.next_retry_at)
partial("ix_dead_letter_queue_waiting", "status = 'pending'", dead_letters.c.source_id, dead_letters.c.error_type)
Index("ix_dead_letter_queue_status", dead_letters.c.status, dead_letters.c.id)
Index("ix_dead_letter_queue_error_type", dead_letters.c.error_type, dead_letters.c.id)

breakers = Table(
    "circuit_breaker_state",
    metadata,
    Column("source_id", Key, ForeignKey(SOURCE, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False, server_default="CLOSED"),
    Column("failure_count", Integer, nullable=False, server_default="0"),
    Column("success_count", Integer, nullable=False, server_default="0"),
    Column("last_failure_at", Timestamp),
    Column("cooldown_until", Timestamp),
    Column("consecutive_opens", Integer, nullable=False, server_default="0"),
    Column("total_calls", BigInteger, nullable=False, server_default="0"),
    Column("total_successes", BigInteger, nullable=False, server_default="0"),
    Column("total_failures", BigInteger, nullable=False, server_default="0"),
    Column("total_rejections", BigInteger, nullable=False, server_default="0"),
    Column("changed_at", Timestamp, nullable=False),
)
