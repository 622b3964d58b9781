"""Reads the state of the system for health, status, metrics and the home page."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.health.overdue import TICK, missed_targets
from tidemill.core.health.system import Grade, Waiting
from tidemill.core.services.degradation import Service, ServiceStatus, degraded
from tidemill.core.views import SourceView, TickView, Totals
from tidemill.operations.live_health import HealthSummary
from tidemill.pipeline.ports import StoreError
from tidemill.telemetry.gauges import Snapshot, SourceGauges
from tidemill.telemetry.process import process_usage
from tidemill.telemetry.rates import Rates
from tidemill.web.cached_answer import CachedAnswer
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.health import DatabaseState, Facts, Health, Late, QueueState, ReplicaState, health_of, is_alive
from tidemill.web.live_gauges import live_gauges
from tidemill.web.live_scrapers import live_facts
from tidemill.web.quick_answer import QuickAnswer

TIMEOUT_SECONDS = 2
"""A database that takes longer counts as down: a health check needs an answer."""
COUNTING_TIMEOUT_SECONDS = 8
"""Counting millions of rows may take this long; Prometheus gives up after ten."""
FIRST_COUNT_SECONDS = 0.6
"""What is counted for the first time is waited for so long; then it is said to be unknown until it is counted."""
COUNTED = ("overdue work", "sources", "what waits for a person")
STATUS_AGE = timedelta(seconds=5)
FACTS_AGE = timedelta(seconds=2)
"""However many ask for `/health`, the database is asked this often."""
OLDEST_FACTS = timedelta(seconds=20)
"""How old what `/health` says may be while a busy process is still asking for newer facts."""


class SystemStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The schedule against what happened, in numbers and with when each safety mechanism last fired.

    `totals` and `ticks` are missing while the database is away, and for as long as it takes to count them first.
    """

    status: Grade
    reasons: Sequence[str]
    timestamp: datetime
    version: str
    totals: Totals | None
    ticks: Sequence[TickView]
    overdue: Sequence[Late]
    last_fired: Mapping[str, datetime | None]
    services: Sequence[ServiceStatus]
    live: HealthSummary
    sources: Mapping[str, int]
    waiting: Waiting


class SystemMonitor:
    """Reads the state of the system; readings are cached for a few seconds."""

    def __init__(self, deps: WebDeps, extensions: Sequence[WebExtension] = ()) -> None:
        """Read nothing yet; `extensions` report what of their vertical is overdue."""
        self._deps = deps
        self._extensions = extensions
        self._down_since: datetime | None = None
        self.totals = CachedAnswer(deps.views.counts, deps.clock, STATUS_AGE, may_lag=True)
        self.ticks = CachedAnswer(deps.views.ticks, deps.clock, STATUS_AGE, may_lag=True)
        self.status = CachedAnswer(self._status, deps.clock, STATUS_AGE)
        self._recent_facts = QuickAnswer(
            self._facts, deps.clock, FACTS_AGE, patience=deps.health_patience, oldest=OLDEST_FACTS
        )
        self.overdue = CachedAnswer(self._overdue, deps.clock, STATUS_AGE, may_lag=True)
        self.sources = CachedAnswer(self._sources, deps.clock, STATUS_AGE, may_lag=True)
        self.waiting = CachedAnswer(deps.views.waiting, deps.clock, STATUS_AGE, may_lag=True)
        self.sources_now = CachedAnswer(self._sources, deps.clock, timedelta(0), may_lag=True)
        self.waiting_now = CachedAnswer(deps.views.waiting, deps.clock, timedelta(0), may_lag=True)

    @property
    def _for_gauges(self) -> Sequence[CachedAnswer[Any]]:
        return self.totals, self.ticks, self.sources, self.overdue

    def forget(self) -> None:
        """Show the next one who looks what somebody has just done, however lengthy the counting is."""
        for answer in (self.sources_now, self.waiting_now):
            answer.forget()

    async def health(self) -> Health:
        """Return the current health."""
        facts = await self._recent_facts.get()
        deps = self._deps
        return health_of(
            facts, process_usage(), deps.clock.now(), lease=deps.lease, version=deps.version, started_at=deps.started_at
        )  # fmt: skip

    async def _sources(self) -> list[SourceView]:
        return await self._deps.views.sources(self._deps.clock.now())

    async def _facts(self) -> Facts:
        rates = self._deps.rate_counter.rates(self._deps.clock.now())
        started = time.perf_counter()
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                pending, total = await self._deps.pending()
                workers = await self._deps.views.workers()
                breakers = await self._deps.views.breakers()
                services = await self._deps.services()
                await self._deps.live.refresh()
            overdue = await self.overdue.get_within(FIRST_COUNT_SECONDS)
            sources = await self.sources.get_within(FIRST_COUNT_SECONDS)
            waiting = await self.waiting.get_within(FIRST_COUNT_SECONDS)
        except StoreError as error:
            return self._down(str(error), rates)
        except TimeoutError:
            words = f"the database did not answer within {TIMEOUT_SECONDS} seconds"
            return self._down(words, rates)
        self._down_since = None
        replica = await self._replica()
        took = round((time.perf_counter() - started) * 1000, 1)
        return Facts(
            database=DatabaseState(reachable=True, latency_ms=took, replica=replica),
            workers=workers,
            breakers=breakers,
            overdue=overdue or (),
            uncounted=[name for name, value in zip(COUNTED, (overdue, sources, waiting), strict=True) if value is None],
            queue=QueueState(pending=total, by_adapter=pending),
            rates=rates,
            services=services,
            live=live_facts(self._deps.live, self._deps.clock.now()),
            sources=sources or (),
            waiting=waiting or Waiting(),
        )

    async def _replica(self) -> ReplicaState | None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                age = await self._deps.replica_age()
        except (StoreError, TimeoutError) as error:
            return ReplicaState(reachable=False, error=str(error) or f"no answer within {TIMEOUT_SECONDS} seconds")
        return None if age is None else ReplicaState(reachable=True, age_seconds=age)

    def _down(self, words: str, rates: Rates) -> Facts:
        """Return the facts while the database is down: that it is, and since when."""
        self._down_since = self._down_since or self._deps.clock.now()
        lost = degraded(Service.DATABASE, self._down_since, words)
        return Facts(database=DatabaseState(reachable=False, error=words), rates=rates, services=[lost])

    async def _overdue(self) -> list[Late]:
        """Return overdue chores, and sources and markets behind schedule."""
        late = [Late(f"{TICK}{name}", detail) for name, detail in await self._deps.overdue()]
        missed = await self._deps.missed()
        for extension in self._extensions:
            late += await extension.overdue()
        return late + [Late(f"source {name}", missed_targets(count)) for name, count in missed]

    async def _status(self) -> SystemStatus:
        health = await self.health()
        there = health.database.reachable
        return SystemStatus(
            status=health.status,
            reasons=health.reasons,
            timestamp=health.timestamp,
            version=health.version,
            totals=await self.totals.get_within(COUNTING_TIMEOUT_SECONDS) if there else None,
            ticks=await self.ticks.get_within(COUNTING_TIMEOUT_SECONDS) or () if there else (),
            overdue=health.overdue,
            last_fired=self._deps.rate_counter.last_fired(),
            services=health.services,
            live=self._deps.live.summary(),
            sources=health.sources,
            waiting=health.waiting,
        )

    async def snapshot(self) -> Snapshot | None:
        """Return the values of the gauges; None while the database is down."""
        try:
            async with asyncio.timeout(COUNTING_TIMEOUT_SECONDS):
                return await self._snapshot()
        except (StoreError, TimeoutError):
            return None

    async def _snapshot(self) -> Snapshot | None:
        deps, now = self._deps, self._deps.clock.now()
        counted = [await each.get_within(COUNTING_TIMEOUT_SECONDS) for each in self._for_gauges]
        if None in counted:
            return None
        totals, ticks = await self.totals.get(), await self.ticks.get()
        sources, off = await self.sources.get(), await deps.disabled_adapters()
        pending, _ = await deps.pending()
        await deps.live.refresh()
        workers = await deps.views.workers()
        return Snapshot(
            at=now,
            jobs=totals.jobs,
            dead_letters=totals.dead_letters,
            breakers=totals.breakers,
            pending=pending,
            adapters={source.adapter_id: source.adapter_id not in off for source in sources},
            sources=[_source_gauges(source) for source in sources],
            workers=sum(is_alive(worker, now, deps.lease) for worker in workers),
            ticks_overdue=sum(late.subject.startswith(TICK) for late in await self.overdue.get()),
            services={each.service.value: each.state.value for each in await deps.services()},
            live=live_gauges(deps.live, await deps.browsers.pools(), now),
            ready=await deps.ready(),
            rows=await deps.gauge_rows() if deps.gauge_rows is not None else (),
            tick_success={tick.name: tick.last_success for tick in ticks if tick.last_success is not None},
        )


def _source_gauges(source: SourceView) -> SourceGauges:
    return SourceGauges(
        id=source.id,
        name=source.name,
        vertical=source.vertical,
        adapter_id=source.adapter_id,
        available=source.is_available,
        breaker=source.circuit_state,
        targets=source.targets,
        targets_active=source.targets_on,
        targets_broken=source.targets_broken,
        records=source.records,
        last_success_at=source.last_success_at,
    )
