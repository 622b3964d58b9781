"""How live polling fares, over all processes, from memory that is at most two seconds old."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.health.contexts import (
    DEGRADED_AGE,
    DEGRADED_ERRORS,
    FAILING_AGE,
    FAILING_ERRORS,
    USUAL_LIMITS,
    ContextHealth,
    ScraperContext,
    age_of,
    health_status,
)
from tidemill.core.health.grades import (
    DEGRADED_FROM,
    EVALUATED_EVERY,
    FAILING_FROM,
    GOOD_INTERVALS,
    RECOVERY_LIMIT,
    STALLED_FROM,
    Freshness,
    FreshnessStats,
    Grading,
    HealthGrade,
    freshness_of,
)
from tidemill.core.health.recovery import LEAST_BETWEEN, MOST_AN_HOUR, RecoveryEntry
from tidemill.pipeline.health_ports import LaneReport
from tidemill.pipeline.ports import Clock, StoreError
from tidemill.store.upkeep.live_health import ErrorCounts, ProcessReport

READ_EVERY = timedelta(seconds=2)
OWN_EVERY = timedelta(seconds=1)
"""This process's own lane is asked so often at most, when anybody asks us."""
SILENT_AFTER = timedelta(seconds=20)
"""A process that has not published for so long no longer checks anything."""
SAMPLED_EVERY, SAMPLES = timedelta(minutes=1), 15
"""Over so many samples the share of failed tries is taken."""

Totals = Mapping[str, tuple[int, int]]


class LiveHealthReads(Protocol):
    """What the board reads."""

    @property
    def process(self) -> str:
        """What this process is called."""
        ...

    async def reports(self) -> list[ProcessReport]:
        """Return the lanes of all processes."""
        ...

    async def grading(self) -> Grading | None:
        """Return the present grade."""
        ...

    async def recoveries(self, limit: int = 10) -> list[RecoveryEntry]:
        """Return the last recoveries."""
        ...

    async def error_counts(self, now: datetime) -> ErrorCounts:
        """Return how many tries failed of late."""
        ...


class HealthSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Live polling as a whole, as `/status` tells it."""

    grade: HealthGrade
    freshness_stats: FreshnessStats
    queue_depth: int
    queue_by_priority: Mapping[str, int]
    active_tasks: int
    failure_ratio: float
    paused_matches: Sequence[str]
    last_success_time: datetime | None
    config_snapshot: Mapping[str, float]
    audit_entries: Sequence[RecoveryEntry]
    generated_at: datetime
    waiting_changes: int = 0
    refused_watches: int = 0
    debt_seconds: float = 0.0


class LiveHealthBoard:
    """Holds what every process published; its own process is known at once."""

    def __init__(self, reads: LiveHealthReads, clock: Clock) -> None:
        """Read nothing yet."""
        self._reads = reads
        self._clock = clock
        self._own: ProcessReport | None = None
        self._own_contexts: Callable[[], Sequence[ScraperContext]] | None = None
        self._asked_at: datetime | None = None
        self._others: list[ProcessReport] = []
        self._grading = Grading(since=clock.now())
        self._recoveries: list[RecoveryEntry] = []
        self._errors = ErrorCounts()
        self._read_at: datetime | None = None
        self._reading = asyncio.Lock()
        self._by_thing: dict[tuple[str, str], tuple[ScraperContext, datetime]] = {}
        self._samples: deque[tuple[datetime, Totals]] = deque(maxlen=SAMPLES)
        self.on_navigation_failure: list[Callable[[str], None]] = []

    def published(self, report: LaneReport, now: datetime) -> None:
        """Take in what this process publishes."""
        self._own = ProcessReport(self._reads.process, now, report)
        self._index()

    def follow(self, contexts: Callable[[], Sequence[ScraperContext]]) -> None:
        """Ask this process's lane for its contexts, rather than wait for the next publishing."""
        self._own_contexts = contexts

    def _ask_own(self) -> None:
        """Take in how this process's lane stands now, if it publishes and was not asked just now."""
        now = self._clock.now()
        if self._own is None or self._own_contexts is None:
            return
        if self._asked_at is not None and now - self._asked_at < OWN_EVERY:
            return
        self._asked_at = now
        if contexts := self._own_contexts():  # none while the lane does not run: then what was published stands
            lane = msgspec.structs.replace(self._own.lane, contexts=contexts)
            self._own = msgspec.structs.replace(self._own, lane=lane)
            self._index()

    def navigation_failed(self, host: str) -> None:
        """Tell whoever counts that a page of a host could not be got."""
        for listener in self.on_navigation_failure:
            listener(host)

    async def refresh(self) -> None:
        """Read what others published, unless that was done just now; raise `StoreError` if it cannot."""
        self._ask_own()
        async with self._reading:
            now = self._clock.now()
            if self._read_at is not None and now - self._read_at < READ_EVERY:
                return
            self._others = [each for each in await self._reads.reports() if each.process != self._reads.process]
            self._grading = await self._reads.grading() or Grading(since=now)
            self._recoveries = await self._reads.recoveries()
            self._errors = await self._reads.error_counts(now)
            self._read_at = now
            self._index()
            self._sample(now)

    async def refresh_quietly(self) -> None:
        """Read what others published; while the database is away, what is known grows old."""
        try:
            await self.refresh()
        except StoreError:
            return

    async def fresh_contexts(self) -> list[ScraperContext]:
        """Return the contexts of all processes, read just now."""
        self._read_at = None
        await self.refresh()
        return self.contexts()

    @property
    def grading(self) -> Grading:
        """The present grade."""
        return self._grading

    @property
    def errors(self) -> ErrorCounts:
        """Failed tries of late."""
        return self._errors

    def reports(self) -> list[ProcessReport]:
        """Return what every process published, the last heard of first."""
        own = [self._own] if self._own is not None else []
        return sorted([*own, *self._others], key=lambda each: each.seen_at, reverse=True)

    def contexts(self) -> list[ScraperContext]:
        """Return each page's context once: of two processes the one that was heard of last has it."""
        found: dict[tuple[str, str, str], ScraperContext] = {}
        for report in self.reports():
            for context in report.lane.contexts:
                found.setdefault((context.vertical, context.thing_key, context.url), context)
        return list(found.values())

    def freshness(self) -> Freshness:
        """Return how fresh live things are now."""
        return freshness_of(self.contexts(), self._clock.now())

    def context_of_thing(self, vertical: str, key: str) -> tuple[ScraperContext, bool] | None:
        """Return the freshest context of a thing, and whether its process still lives."""
        found = self._by_thing.get((vertical, key))
        return None if found is None else (found[0], self._clock.now() - found[1] <= SILENT_AFTER)

    def counts(self) -> Counter[ContextHealth]:
        """Return how many contexts fare how."""
        now = self._clock.now()
        return Counter(health_status(each, now) for each in self.contexts())

    def worst(self, limit: int) -> list[ScraperContext]:
        """Return the contexts that fare worst: failing first, then the oldest."""
        now = self._clock.now()
        rank = {ContextHealth.FAILING: 0, ContextHealth.DEGRADED: 1, ContextHealth.HEALTHY: 2}
        return sorted(self.contexts(), key=lambda each: (rank[health_status(each, now)], -age_of(each, now)))[:limit]

    def queue_depth(self) -> Counter[str]:
        """Return how many pages are due and not asked for, by priority."""
        depth: Counter[str] = Counter()
        for report in self._living():
            depth.update(report.lane.queue_depth)
        return depth

    def summary(self) -> HealthSummary:
        """Return live polling as a whole."""
        now, contexts, living = self._clock.now(), self.contexts(), self._living()
        freshness, depth = freshness_of(contexts, now), self.queue_depth()
        return HealthSummary(
            grade=self._grading.grade,
            freshness_stats=freshness.stats,
            queue_depth=depth.total(),
            queue_by_priority=depth,
            active_tasks=sum(each.lane.active_tasks for each in living),
            failure_ratio=self._failure_ratio(contexts),
            paused_matches=sorted({each.thing_key for each in contexts if each.is_paused}),
            last_success_time=max((each.last_update_time for each in contexts if each.last_update_time), default=None),
            config_snapshot=THRESHOLDS,
            audit_entries=self._recoveries,
            generated_at=now,
            waiting_changes=sum(each.lane.waiting_changes for each in living),
            refused_watches=sum(each.lane.refused_watches for each in living),
            debt_seconds=max((each.debt.total_seconds() for each in contexts), default=0.0),
        )

    def _living(self) -> list[ProcessReport]:
        now = self._clock.now()
        return [each for each in self.reports() if now - each.seen_at <= SILENT_AFTER]

    def _index(self) -> None:
        """Keep the freshest context of each thing at hand."""
        self._by_thing.clear()
        for report in self.reports():
            for context in report.lane.contexts:
                thing = (context.vertical, context.thing_key)
                held = self._by_thing.get(thing)
                if held is None or _checked(context) > _checked(held[0]):
                    self._by_thing[thing] = (context, report.seen_at)

    def _sample(self, now: datetime) -> None:
        if not self._samples or now - self._samples[-1][0] >= SAMPLED_EVERY:
            totals = {each.scraper_id: (each.total_errors, each.total_updates) for each in self.contexts()}
            self._samples.append((now, totals))

    def _failure_ratio(self, contexts: Sequence[ScraperContext]) -> float:
        """Return the share of failed tries over the last quarter of an hour."""
        before = self._samples[0][1] if self._samples else {}
        errors = tries = 0
        for each in contexts:
            old_errors, old_updates = before.get(each.scraper_id, (0, 0))
            errors += max(0, each.total_errors - old_errors)
            tries += max(0, each.total_errors - old_errors) + max(0, each.total_updates - old_updates)
        return round(errors / tries, 4) if tries else 0.0


def _checked(context: ScraperContext) -> datetime:
    return context.last_update_time or context.start_time


THRESHOLDS: Mapping[str, float] = {
    "evaluated_every_seconds": EVALUATED_EVERY.total_seconds(),
    "degraded_from_seconds": DEGRADED_FROM.total_seconds(),
    "stalled_from_seconds": STALLED_FROM.total_seconds(),
    "failing_from_seconds": FAILING_FROM.total_seconds(),
    "recovery_limit_seconds": RECOVERY_LIMIT.total_seconds(),
    "good_intervals": GOOD_INTERVALS,
    "recoveries_apart_seconds": LEAST_BETWEEN.total_seconds(),
    "recoveries_an_hour": MOST_AN_HOUR,
    "context_degraded_errors": DEGRADED_ERRORS,
    "context_failing_errors": FAILING_ERRORS,
    "context_degraded_age_seconds": DEGRADED_AGE.total_seconds(),
    "context_failing_age_seconds": FAILING_AGE.total_seconds(),
    "restart_after_hours": USUAL_LIMITS.max_lifetime / timedelta(hours=1),
    "restart_after_errors": USUAL_LIMITS.most_errors,
    "restart_after_unchecked_seconds": USUAL_LIMITS.stale_after.total_seconds(),
    "restart_above_bytes": USUAL_LIMITS.soft_memory_limit,
}
