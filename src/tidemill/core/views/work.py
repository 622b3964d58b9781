"""Runs, jobs, dead letters, ticks and workers, as they stand."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run with its counts; `complete` and `doubts` are None until it is closed.

    `degraded` names the services that it had to do without.
    """

    id: int
    source_id: int
    source_name: str
    vertical: str
    adapter_id: str
    adapter_version: str
    trigger: str
    status: str
    open_jobs: int
    started_at: datetime
    completed_at: datetime | None
    duration_ms: int | None
    urls_attempted: int
    urls_succeeded: int
    urls_failed: int
    urls_refused: int
    pages_unchanged: int
    records_read: int
    records_accepted: int
    records_dropped: int
    records_quarantined: int
    records_inserted: int
    records_updated: int
    records_unchanged: int
    records_repeated: int
    records_seen_again: int
    records_removed: int
    truncated_pages: int
    claimed_total: int | None
    failure_rate: float | None
    yield_rate: float | None
    drop_rate: float | None
    complete: bool | None
    doubts: Sequence[str] | None
    error_code: str | None
    error_message: str | None
    degraded: Sequence[str] | None = None
    urls_drifted: int = 0
    oos_no_price_count: int = 0
    zero_price_count: int = 0


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job in a list."""

    id: int
    run_id: int
    source_id: int
    source_name: str
    target_id: int
    vertical: str
    adapter_id: str
    lane: str
    host: str
    url: str
    trigger: str
    stage: str
    status: str
    attempts: int
    max_attempts: int
    priority: int
    due_at: datetime
    not_before: datetime | None
    leased_by: int | None
    leased_at: datetime | None
    page_id: int | None
    failure: str | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs to list; None means any."""

    run_id: int | None = None
    source_id: int | None = None
    target_id: int | None = None
    status: str | None = None
    stage: str | None = None
    failure: str | None = None
    host: str | None = None


class StageCount(msgspec.Struct, frozen=True):
    """How many of a run's jobs stand in one stage and state."""

    stage: str
    status: str
    jobs: int


class RunDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A run, stage by stage; `jobs` holds the first of them, those that failed first."""

    run: RunView
    stages: Sequence[StageCount]
    failures: Mapping[str, int]
    jobs: Sequence[JobView]


class ReadingView(msgspec.Struct, frozen=True, kw_only=True):
    """What was made of a page: by which adapter it was read, and how its records were judged."""

    page_id: int
    adapter_id: str
    adapter_version: str
    strategy: str
    records: int
    accepted: int | None
    dropped: int | None
    quarantined: int | None


class DeadLetterView(msgspec.Struct, frozen=True, kw_only=True):
    """A dead letter in a list."""

    id: int
    job_id: int
    source_id: int
    source_name: str
    target_id: int
    url: str
    stage: str
    error_type: str
    error_message: str
    retry_count: int
    max_retries: int
    next_retry_at: datetime | None
    status: str
    resolved_at: datetime | None
    resolution_notes: str | None
    created_at: datetime
    updated_at: datetime


class DeadLetterFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which dead letters; None means any."""

    status: str | None = None
    source_id: int | None = None
    stage: str | None = None
    error_type: str | None = None


class DeadLetterDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A dead letter with all that a retry needs."""

    letter: DeadLetterView
    error_stack: str
    payload: Mapping[str, Any]


class JobDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A job with what its stages left behind."""

    job: JobView
    reading: ReadingView | None
    letter: DeadLetterView | None


class TickView(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of periodic work: its last slot, how that went, and when it last went well."""

    name: str
    slot: datetime
    status: str
    started_at: datetime
    finished_at: datetime | None
    detail: str
    last_success: datetime | None


class WorkerView(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process, how many jobs it holds, and whose jobs it takes: the names of lanes, null if not known."""

    id: int
    name: str
    pid: int
    started_at: datetime
    seen_at: datetime
    ended_at: datetime | None
    lanes: str | None = None
    jobs: int

    @property
    def place(self) -> str:
        """Return its name without the number of its process, which changes with every start."""
        return self.name.removesuffix(f":{self.pid}")
