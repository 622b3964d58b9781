"""Sites with tallies in virtual time, and the real live lane that watches them: all real but the clock and the web."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import select

from rig.clock import seeded_dice
from rig.watching import WatchStore
from tidemill.bootstrap.live.lane import NoKeys
from tidemill.core.failure import Failure
from tidemill.core.health.contexts import NO_USAGE, ContextUsage
from tidemill.core.source import FetcherKind
from tidemill.engine.live.dependencies import LaneDependencies
from tidemill.engine.live.lane import LiveLane
from tidemill.engine.live.lease import LaneLease
from tidemill.engine.live.loops import LaneRestart
from tidemill.engine.live.options import LaneOptions
from tidemill.engine.live.states import PolledStates
from tidemill.engine.supervisor import Worker
from tidemill.fetching.bulk_rate_limits import BulkRateLimits
from tidemill.fetching.http import http_fetcher
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.happenings import Happening
from tidemill.pipeline.health_ports import NoHealthSink
from tidemill.pipeline.ports import StoreLost, WireFailure, WireRequest, WireResponse
from tidemill.pipeline.reader_functions.function import InlineReaders
from tidemill.store.database.database import Database
from tidemill.store.ledger.breakers import Breakers
from tidemill.store.ledger.rate_limits import RateLimitRepository
from tidemill.store.ledger.recheck import CurrentStateReader

LATENCY = timedelta(milliseconds=40)
Fault = Callable[[str, datetime], WireResponse | WireFailure | None]


class TallySites:
    """Answers for every `*.test` host: a list of tallies at `/live`, and a page for each.

    `score(name, at)` says how many points a tally has at a moment. `faults` are asked first, with host and path.
    """

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.scores: dict[str, Callable[[datetime], int]] = {}
        self.listed: dict[str, set[str]] = {}
        self.phases: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.asked: list[tuple[datetime, str, str]] = []

    def steady(self, name: str, every: timedelta, start: datetime, host: str = "arena.test") -> None:
        """A tally that gets a point every so often."""
        self.scores[name] = lambda at: max(0, (at - start) // every)
        self.listed.setdefault(host, set()).add(name)

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        await before_send()
        at, parts = self.clock.now(), urlsplit(request.url)
        self.asked.append((at, parts.netloc, parts.path))
        answer = self._answer(parts.netloc, parts.path, at)
        if isinstance(answer, WireFailure) and answer.failure is Failure.TIMED_OUT:
            await self.clock.sleep_until(at + request.timeout)
        else:
            await self.clock.sleep_until(at + LATENCY)
        return answer

    def _answer(self, host: str, path: str, at: datetime) -> WireResponse | WireFailure:
        for fault in self.faults:
            if (answer := fault(f"{host}{path}", at)) is not None:
                return answer
        if path == "/robots.txt":
            return WireResponse(status_code=404, headers={})
        if path == "/live":
            rows = [
                {"id": name, "url": f"https://{host}/tally/{name}", "points": self.scores[name](at)}
                | ({"phase": self.phases[name]} if name in self.phases else {})
                for name in sorted(self.listed.get(host, ()))
            ]
            return json_response({"tallies": rows})
        name = path.rpartition("/")[2]
        if name not in self.scores:
            return WireResponse(status_code=404, headers={})
        said = {"id": name, "points": self.scores[name](at), "phase": self.phases.get(name, "in_play")}
        return json_response(said)

    async def close(self) -> None:
        pass

    def polls(self, path: str) -> list[datetime]:
        return [at for at, _, asked in self.asked if asked == path]


def json_response(value: Any, status: int = 200) -> WireResponse:
    return WireResponse(
        status_code=status, headers={"content-type": "application/json"}, body=msgspec.json.encode(value)
    )


class AwayDatabase(Database):
    """A database that can be away, and that counts the transactions that wrote."""

    lasting = False

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.is_away = False
        self.writes = 0

    def _check(self) -> None:
        if self.is_away:
            msg = "the database is away"
            raise StoreLost(msg)

    @asynccontextmanager
    async def write(self):
        self._check()
        async with super().write() as connection:
            before = await _changes(connection)
            yield connection
            self.writes += await _changes(connection) - before

    @asynccontextmanager
    async def read(self):
        self._check()
        async with super().read() as connection:
            yield connection

    @asynccontextmanager
    async def glance(self):
        self._check()
        async with super().glance() as connection:
            yield connection


async def _changes(connection: Any) -> int:
    return int((await connection.exec_driver_sql("SELECT total_changes()")).scalar())


class FreezableClock:
    """The time of one process, which can be stopped like the process itself: whoever sleeps does not wake."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.running = asyncio.Event()
        self.running.set()

    def now(self) -> datetime:
        now: datetime = self.inner.now()
        return now

    async def sleep_until(self, moment: datetime) -> None:
        await self.inner.sleep_until(moment)
        await self.running.wait()

    def freeze(self) -> None:
        self.running.clear()

    def thaw(self) -> None:
        self.running.set()


class LaneProcess:
    """One process with a live lane on a database of several."""

    def __init__(
        self,
        store: WatchStore,
        sites: Any,
        machine: Any,
        options: LaneOptions,
        name: str,
        *,
        health: Any = None,
        browser: Callable[[Any], Any] | None = None,
        browser_usage: Callable[[], ContextUsage] = lambda: NO_USAGE,
        free_memory: Callable[[], int | None] = lambda: None,
    ) -> None:
        """`browser` makes the fetcher of pages that need one out of the usual fetcher."""
        self.store = store
        self.clock = clock = FreezableClock(machine)
        self.happenings: list[Happening] = []
        self.health = health or RecordingHealth()
        limits = RateLimitRepository(store.database)
        self.slots = BulkRateLimits(limits, clock)
        fetcher = http_fetcher(clock, transport=sites, rate_limits=self.slots)
        self.worker = Worker(store.workers, clock, name)
        self.lease = LaneLease(store.ledger, clock, self.worker.key, self.happenings.append)
        states = PolledStates(CurrentStateReader(store.database))
        breakers = {name: vertical.policy.breaker for name, vertical in store.verticals.items()}
        fetchers: dict[FetcherKind, Any] = {FetcherKind.HTTP: fetcher}
        if browser is not None:
            fetchers[FetcherKind.BROWSER] = browser(fetcher)
        stages = StageDependencies(
            clock, NoKeys(), Breakers(store.database, breakers), fetchers, store.verticals,
            cast("Any", NoServices()), states, lambda _worker: self.lease.is_held(),
        )  # fmt: skip
        self.lane = LiveLane(
            LaneDependencies(
                ledger=store.ledger, stages=stages, states=states, dice=seeded_dice(), announce=self.happenings.append,
                health=self.health, slots=self.slots, runs=NoRuns(), lease=self.lease,
                readers=InlineReaders(store.verticals), options=options,
                browser_usage=browser_usage, free_memory=free_memory,
            ),
            name,
        )  # fmt: skip

    async def run(self) -> None:
        await self.worker.sign_in()
        while True:
            try:
                await self.lane.run("live")
            except LaneRestart:
                continue
            return

    def of(self, kind: type) -> list[Any]:
        return [each for each in self.happenings if isinstance(each, kind)]


class RecordingHealth(NoHealthSink):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.tries: list[Any] = []
        self.restarts: list[Any] = []
        self.reports: list[Any] = []
        self.requests: list[Any] = []

    def failed(self, failed: Any) -> None:
        self.tries.append(failed)

    def restarted(self, context: Any, reason: Any, at: datetime) -> None:
        self.restarts.append((context, reason, at))

    async def publish(self, report: Any, now: datetime) -> list[Any]:
        del now
        self.reports.append(report)
        asked, self.requests = self.requests, []
        return asked


class NoServices:
    """No outside service is needed."""

    def degraded_for_all_runs(self) -> tuple[()]:
        return ()


class NoRuns:
    """Closes nothing."""

    async def close_runs(self, run_ids: Any, now: datetime) -> list[Any]:
        del run_ids, now
        return []


async def all_rows(database: Database, table: Any) -> list[Any]:
    async with database.read() as connection:
        query = select(table).order_by(*table.primary_key.columns)
        return list((await connection.execute(query)).mappings())
