"""How the system is: healthy, degraded or down, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.health.grades import HealthGrade
from tidemill.core.health.overdue import overdue_sentences
from tidemill.core.health.system import (
    Grade,
    NamedStanding,
    SystemFacts,
    Waiting,
    is_working,
    lost_workers,
    service_sentence,
    system_grade,
    working_takers,
)
from tidemill.core.services.degradation import ServiceStatus
from tidemill.core.views import BreakerView, SourceView, WorkerView
from tidemill.telemetry.process import ProcessUsage
from tidemill.telemetry.rates import Rates
from tidemill.web.live_scrapers import LiveFacts, ScraperState, live_outage, live_problems

BREAKERS_SHOWN = 100
REPLICA_MAY_LAG = 60
"""Seconds: a heartbeat of some worker is due within 20."""


class ReplicaState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the replica that readers ask answers, and how many seconds behind it is at most."""

    reachable: bool
    age_seconds: float = 0.0
    error: str = ""

    @property
    def trouble(self) -> str:
        """What is wrong with it in words; '' if nothing is."""
        if not self.reachable:
            return f"the replica does not answer, and the database serves readers too ({self.error})"
        return f"the replica is {self.age_seconds:.0f} s behind" if self.age_seconds > REPLICA_MAY_LAG else ""


class DatabaseState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the database answers, how fast, and what it said if not."""

    reachable: bool
    latency_ms: float = 0.0
    error: str = ""
    replica: ReplicaState | None = None


class WorkerState(msgspec.Struct, frozen=True, kw_only=True):
    """A worker process; `last_seen` is its latest heartbeat, which says that it lives and nothing more."""

    worker_id: str
    name: str
    pid: int
    start_time: datetime
    last_seen: datetime
    uptime_seconds: float
    jobs: int
    lanes: str | None


class QueueState(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that wait or are in hand."""

    pending: int = 0
    by_adapter: Mapping[str, int] = msgspec.field(default_factory=dict)


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What the answering process and all browsers use; the process's share of a processor is over its whole life.

    The average is by context, or the whole where there is none.
    """

    total_memory_mb: float
    average_memory_mb: float
    peak_memory_mb: float
    total_cpu_percent: float


class BreakerState(msgspec.Struct, frozen=True, kw_only=True):
    """A circuit breaker, in short."""

    name: str
    state: str
    failure_count: int
    success_count: int
    total_calls: int
    total_successes: int
    total_failures: int
    total_rejections: int
    last_failure: datetime | None
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
    total_matches_scraping: int
    scraper_counts: Mapping[str, int]
    scrapers: Sequence[ScraperState]
    live_grade: HealthGrade
    workers: Sequence[WorkerState]
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
    live: LiveFacts = LiveFacts()
    sources: Sequence[SourceView] = ()
    waiting: Waiting = Waiting()
    uncounted: Sequence[str] = ()


def grade_and_reasons(facts: Facts, now: datetime, lease: timedelta) -> tuple[Grade, list[str]]:
    """Return the grade, and every reason for it in words."""
    late = [(each.subject, each.detail) for each in facts.overdue]
    grade, reasons = system_grade(
        SystemFacts(
            database_error="" if facts.database.reachable else facts.database.error or "the database does not answer",
            replica=facts.database.replica.trouble if facts.database.replica is not None else "",
            workers_lost=lost_workers(facts.workers, now, lease),
            workers_alive=len(working_takers(facts.workers, now, lease)),
            sources=[NamedStanding(each.name, each.standing, each.standing_reason) for each in facts.sources],
            open_breakers=[each.source_name for each in facts.breakers if each.state == "OPEN"],
            overdue=overdue_sentences(late, facts.workers, now, lease),
            services=[words for each in facts.services if (words := service_sentence(each))],
            errors_last_minute=facts.rates.errors_last_minute,
            pages_last_minute=facts.rates.pages_last_minute,
            waiting=facts.waiting,
        )
    )
    if not facts.database.reachable:
        return grade, reasons
    outage, problems = live_outage(facts.live), live_problems(facts.live)
    if outage:
        grade = Grade.DOWN
    elif (problems or facts.uncounted) and grade is Grade.HEALTHY:
        grade = Grade.DEGRADED
    unknown = [f"not known yet, it is still being counted: {', '.join(facts.uncounted)}"] if facts.uncounted else []
    return grade, [*outage, *reasons, *problems, *unknown]


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
        active_scraper_count=facts.live.active,
        total_matches_scraping=facts.live.things,
        scraper_counts=facts.live.counts,
        scrapers=facts.live.scrapers,
        live_grade=facts.live.grade,
        workers=[_worker(worker, now) for worker in alive],
        queue=facts.queue,
        resources=_resources(facts.live, usage, uptime),
        errors=Errors(
            last_minute=facts.rates.errors_last_minute + facts.live.errors_last_minute,
            last_hour=facts.rates.errors_last_hour + facts.live.errors_last_hour,
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


def _resources(live: LiveFacts, usage: ProcessUsage, uptime: float) -> Resources:
    own = 100 * usage.cpu_seconds / uptime if uptime > 0 else 0.0
    total = usage.memory_mb + live.browser_memory_mb
    return Resources(
        total_memory_mb=round(total, 1),
        average_memory_mb=round(total / max(1, live.active), 1),
        peak_memory_mb=round(max(usage.peak_memory_mb, usage.memory_mb) + live.browser_memory_mb, 1),
        total_cpu_percent=round(own + live.browser_cpu_percent, 1),
    )


def _worker(worker: WorkerView, now: datetime) -> WorkerState:
    return WorkerState(
        worker_id=str(worker.id),
        name=worker.name,
        pid=worker.pid,
        start_time=worker.started_at,
        last_seen=worker.seen_at,
        uptime_seconds=(now - worker.started_at).total_seconds(),
        jobs=worker.jobs,
        lanes=worker.lanes,
    )


def _breaker(view: BreakerView) -> BreakerState:
    return BreakerState(
        name=view.source_name,
        state=view.state,
        failure_count=view.failure_count,
        success_count=view.success_count,
        total_calls=view.total_calls,
        total_successes=view.total_successes,
        total_failures=view.total_failures,
        total_rejections=view.total_rejections,
        last_failure=view.last_failure_at,
        cooldown_until=view.cooldown_until,
        last_state_change=view.changed_at,
    )
