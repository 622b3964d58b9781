"""How the system is: healthy, degraded or down, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.health.system import (
    Grade,
    NamedStanding,
    SystemFacts,
    Waiting,
    is_working,
    service_sentence,
    system_grade,
)
from tidemill.core.services.degradation import ServiceStatus
from tidemill.core.views import BreakerView, SourceView, WorkerView
from tidemill.telemetry.process import ProcessUsage
from tidemill.telemetry.rates import Rates

BREAKERS_SHOWN = 100


class DatabaseState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the database answers, how fast, and what it said if not."""

    reachable: bool
    latency_ms: float = 0.0
    error: str = ""


class ScraperState(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process; `last_seen` is its latest heartbeat, which says that it lives and nothing more."""

    scraper_id: str
    name: str
    pid: int
    start_time: datetime
    last_seen: datetime
    uptime_seconds: float
    jobs: int


class QueueState(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that wait or are in hand."""

    pending: int = 0
    by_adapter: Mapping[str, int] = msgspec.field(default_factory=dict)


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What the answering process uses; the share of a processor is over its whole life."""

    total_memory_mb: float
    peak_memory_mb: float
    total_cpu_percent: float


class BreakerState(msgspec.Struct, frozen=True, kw_only=True):
    """A circuit breaker, in short."""

    name: str
    state: str
    failure_count: int
    total_calls: int
    total_successes: int
    total_failures: int
    total_rejections: int
    cooldown_until: datetime | None
    last_state_change: datetime


class Errors(msgspec.Struct, frozen=True, kw_only=True):
    """Errors that this process met, and the breakers; those that are not closed stand first."""

    last_minute: int
    last_hour: int
    circuit_breakers: Sequence[BreakerState] = ()


class Performance(msgspec.Struct, frozen=True, kw_only=True):
    """How long the last thousand pages took, and how many came in the last minute."""

    average_latency_ms: float
    p95_latency_ms: float
    updates_per_minute: int


class Late(msgspec.Struct, frozen=True):
    """Something that the schedule asked for and that has not happened."""

    subject: str
    detail: str


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer of `/health`; `sources` counts them by how they stand, `waiting` what waits for a person."""

    status: Grade
    reasons: Sequence[str]
    timestamp: datetime
    version: str
    uptime_seconds: float
    database: DatabaseState
    active_scraper_count: int
    scrapers: Sequence[ScraperState]
    queue: QueueState
    resources: Resources
    errors: Errors
    performance: Performance
    overdue: Sequence[Late]
    services: Sequence[ServiceStatus]
    sources: Mapping[str, int]
    waiting: Waiting


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that health is graded by."""

    database: DatabaseState
    workers: Sequence[WorkerView] = ()
    breakers: Sequence[BreakerView] = ()
    overdue: Sequence[Late] = ()
    queue: QueueState = QueueState()
    rates: Rates = Rates()
    services: Sequence[ServiceStatus] = ()
    sources: Sequence[SourceView] = ()
    waiting: Waiting = Waiting()


def grade_and_reasons(facts: Facts, now: datetime, lease: timedelta) -> tuple[Grade, list[str]]:
    """Return the grade, and every reason for it in words."""
    return system_grade(
        SystemFacts(
            database_error="" if facts.database.reachable else facts.database.error or "the database does not answer",
            workers_alive=sum(is_alive(worker, now, lease) for worker in facts.workers),
            sources=[NamedStanding(each.name, each.standing, each.standing_reason) for each in facts.sources],
            open_breakers=[each.source_name for each in facts.breakers if each.state == "OPEN"],
            overdue=[f"{late.subject} is overdue: {late.detail}" for late in facts.overdue],
            services=[words for each in facts.services if (words := service_sentence(each))],
            errors_last_minute=facts.rates.errors_last_minute,
            pages_last_minute=facts.rates.pages_last_minute,
            waiting=facts.waiting,
        )
    )


def is_alive(worker: WorkerView, now: datetime, lease: timedelta) -> bool:
    """Return whether a worker still holds its leases."""
    return is_working(worker.seen_at, worker.ended_at, now, lease)


def health_of(
    facts: Facts, usage: ProcessUsage, now: datetime, *, lease: timedelta, version: str, started_at: datetime
) -> Health:
    """Return the whole response of `/health`."""
    grade, reasons = grade_and_reasons(facts, now, lease)
    alive = [worker for worker in facts.workers if is_alive(worker, now, lease)]
    uptime = (now - started_at).total_seconds()
    return Health(
        status=grade,
        reasons=reasons,
        timestamp=now,
        version=version,
        uptime_seconds=uptime,
        database=facts.database,
        active_scraper_count=len(alive),
        scrapers=[_scraper(worker, now) for worker in alive],
        queue=facts.queue,
        resources=Resources(
            total_memory_mb=usage.memory_mb,
            peak_memory_mb=usage.peak_memory_mb,
            total_cpu_percent=round(100 * usage.cpu_seconds / uptime, 1) if uptime > 0 else 0.0,
        ),
        errors=Errors(
            last_minute=facts.rates.errors_last_minute,
            last_hour=facts.rates.errors_last_hour,
            circuit_breakers=[_breaker(each) for each in facts.breakers[:BREAKERS_SHOWN]],
        ),
        performance=Performance(
            average_latency_ms=facts.rates.average_ms,
            p95_latency_ms=facts.rates.p95_ms,
            updates_per_minute=facts.rates.pages_last_minute,
        ),
        overdue=facts.overdue,
        services=facts.services,
        sources=dict(Counter(each.standing.value for each in facts.sources)),
        waiting=facts.waiting,
    )


def _scraper(worker: WorkerView, now: datetime) -> ScraperState:
    return ScraperState(
        scraper_id=str(worker.id),
        name=worker.name,
        pid=worker.pid,
        start_time=worker.started_at,
        last_seen=worker.seen_at,
        uptime_seconds=(now - worker.started_at).total_seconds(),
        jobs=worker.jobs,
    )


def _breaker(view: BreakerView) -> BreakerState:
    return BreakerState(
        name=view.source_name,
        state=view.state,
        failure_count=view.failure_count,
        total_calls=view.total_calls,
        total_successes=view.total_successes,
        total_failures=view.total_failures,
        total_rejections=view.total_rejections,
        cooldown_until=view.cooldown_until,
        last_state_change=view.changed_at,
    )
