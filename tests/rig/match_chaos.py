"""Days of matches in virtual time in which everything breaks that can: each time on record, and well again soon."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from sqlalchemy import func, select

from rig.live_world import LaneProcess
from rig.match_lane import MatchLanes
from tidemill.core.failure import Failure
from tidemill.core.health.contexts import MEBIBYTE, ContextUsage
from tidemill.core.health.grades import HealthGrade
from tidemill.engine.health_tick import HealthTick
from tidemill.engine.live.options import LaneOptions
from tidemill.lab.faults import Fault, Outage, ScheduledFault, TimeOut, Timetable
from tidemill.operations.live_health import LiveHealthBoard
from tidemill.pipeline.ports import FetchRequest, FetchResult, FetchStatus, StoreError
from tidemill.store.schema import audit_log, scraper_errors
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.upkeep.health_sink import LiveHealthSink
from tidemill.store.upkeep.live_health import LiveHealthRepository
from tidemill.verticals.matches.lab.demo import without_browser
from tidemill.verticals.matches.lab.faults import Garbage
from tidemill.verticals.matches.lab.sites import BOARD, FEED, SCRIPT, SITES
from tidemill.verticals.matches.lab.timeline import TrueMatch

SECOND = timedelta(seconds=1)
TICK = 15 * SECOND
WELL_WITHIN = 120 * SECOND
SETTLED = 60 * SECOND
"""How long matches are watched before anything breaks, and between a repair and the next thing that breaks at least."""


class ShakyBrowser:
    """A browser that is gone while it is `dead`: its pages cannot be got."""

    def __init__(self, inner: Any, is_dead: Callable[[], bool]) -> None:
        self._inner = inner
        self._is_dead = is_dead

    async def fetch(self, request: FetchRequest) -> FetchResult:
        if self._is_dead():
            return FetchResult(
                status=FetchStatus.ERROR, url=request.url, failure=Failure.BROWSER_LOST, error="the browser was killed"
            )  # fmt: skip
        answer: FetchResult = await self._inner.fetch(request)
        return answer

    async def close(self) -> None:
        await self._inner.close()


class Strike(msgspec.Struct, frozen=True):
    """One thing that broke: when, what was found on record of it, and how long it took to be well again after it."""

    kind: str
    at: datetime
    on_record: str
    well_after: timedelta
    worst: str

    @property
    def is_good(self) -> bool:
        """Whether it is on record, and was over in time."""
        return bool(self.on_record or not _EVIDENCE[self.kind]) and self.well_after <= WELL_WITHIN


class MatchChaos(MatchLanes):
    """Processes, sites and a database that break by the dice, and the grade that is evaluated meanwhile."""

    def __init__(self, clock: Any, file: Path, folder: Path, matches: Sequence[TrueMatch], dice: Random) -> None:
        super().__init__(clock, file, folder, matches, speed=1)
        self._dice = dice
        self._number = 0
        self._browser_is_dead = False
        self._memory = 200 * MEBIBYTE
        self._free = 4_000 * MEBIBYTE
        self._heard: Counter[str] = Counter()
        self._made: list[LaneProcess] = []
        self.strikes: list[Strike] = []
        self.grades: list[tuple[datetime, HealthGrade]] = []
        self.health = LiveHealthRepository(self.database, self.store.ids, "observer")
        self.board = LiveHealthBoard(self.health, clock)
        self.tick = HealthTick(
            clock=clock, announce=lambda _: None, store=self.health, contexts=self.board.fresh_contexts,
            recycle_browsers=self._replace_browsers, vitals=_no_vitals,
        )  # fmt: skip
        self._ways: dict[str, Callable[[], Awaitable[None]]] = {
            "worker killed": self._kill_one,
            "worker frozen for 60 s": self._freeze_one,
            "worker handed over": self._replace_one,
            "database away for 2 min": self._take_database,
            "network cut for 30 s": lambda: self._break_sites(SITES, Outage(), 30 * SECOND),
            "page hung": lambda: self._break_sites([FEED], TimeOut(), 60 * SECOND),
            "garbage": lambda: self._break_sites([SCRIPT], Garbage(), 60 * SECOND),
            "browser killed": self._kill_browser,
            "memory squeezed": self._squeeze_memory,
        }

    @property
    def kinds(self) -> list[str]:
        """Everything that can be made to happen."""
        return list(self._ways)

    async def begin(self, faults: Sequence[ScheduledFault] = ()) -> None:
        """Let the sites be known; the pages of one of them need a browser."""
        self.sites.faults = Timetable(list(faults))
        entries = [without_browser(each) for each in self.sites.sources({}, None)]
        board = BOARD.partition(".")[0]
        await self.store.add_sites(
            [entry | ({"fetcher": "browser"} if entry["name"].startswith(board) else {}) for entry in entries]
        )
        self.start_process()
        self.start_process()

    def start_process(self) -> LaneProcess:
        """One more process."""
        self._number += 1
        return self.process(f"process-{self._number}")

    def make_process(self, name: str, options: LaneOptions) -> LaneProcess:
        repository = LiveHealthRepository(self.database, self.store.ids, name)
        sink = LiveHealthSink(
            repository, AuditLog(self.database, self.store.ids), self.clock.now(), lambda *_: None,
            failed_at_host=lambda _: None,
        )  # fmt: skip
        made = LaneProcess(
            self.store, self.transport, self.clock, options, name, health=sink,
            browser=lambda inner: ShakyBrowser(inner, lambda: self._browser_is_dead),
            browser_usage=lambda: ContextUsage(memory_bytes=self._memory, cpu_percent=3.0, browser_pid=7),
            free_memory=lambda: self._free,
        )  # fmt: skip
        self._made.append(made)
        return made

    async def go_on(self, span: timedelta) -> None:
        """Let time pass, with the grade evaluated every 15 s."""
        until = self.clock.now() + span
        while self.clock.now() < until:
            await self.wait(min(TICK, until - self.clock.now()))
            await self._evaluate()

    async def _evaluate(self) -> None:
        self._hear()
        try:
            await self.tick.run()
            found = await self.health.grading()
        except StoreError:
            return
        if found is not None:
            self.grades.append((self.clock.now(), found.grade))

    async def strike(self, kind: str) -> Strike:
        """Let one thing break, and see how that goes."""
        before = await self._records()
        began = self.clock.now()
        await self._ways[kind]()
        over = self.clock.now()
        await self.go_on(WELL_WITHIN + SETTLED)
        seen = [(at, grade) for at, grade in self.grades if at >= began]
        after = [at for at, grade in seen if at > over and grade is not HealthGrade.HEALTHY]
        well_after = max((at - over for at in after), default=timedelta(0))
        new = {name: count - before[name] for name, count in (await self._records()).items() if count > before[name]}
        worst = max((grade for _, grade in seen), key=_BADNESS.index, default=HealthGrade.HEALTHY)
        found = ", ".join(f"{count} {name}" for name, count in new.items() if name in _EVIDENCE[kind])
        self.strikes.append(Strike(kind, began, found, well_after, worst.value))
        return self.strikes[-1]

    async def _records(self) -> dict[str, int]:
        """Count what is on record, by what it is a record of."""
        self._hear()
        found = {name: self._heard[name] for name in ("JobsRescued", "StoreTrouble", "WatchLost")}
        errors = select(scraper_errors.c.error_type, func.count()).group_by(scraper_errors.c.error_type)
        audits = select(audit_log.c.action, func.count()).group_by(audit_log.c.action)
        async with self.database.read() as connection:
            found |= {f"{kind} errors": count for kind, count in await connection.execute(errors)}
            found |= {str(action): count for action, count in await connection.execute(audits)}
        return dict.fromkeys(set().union(*_EVIDENCE.values()), 0) | found

    def _hear(self) -> None:
        """Count what processes announced, and forget it: there is a happening for each poll."""
        for process in self._made:
            self._heard.update(type(each).__name__ for each in process.happenings)
            process.happenings.clear()

    # What can happen

    def _any(self) -> LaneProcess:
        """A process that watches something, if any does."""
        busy = [process for process in self.running if process.lane.watches]
        return self._dice.choice(busy or list(self.running))

    async def _kill_one(self) -> None:
        await self.kill(self._any())
        await self.go_on(10 * SECOND)
        self.start_process()

    async def _freeze_one(self) -> None:
        frozen = self._any()
        frozen.clock.freeze()
        await self.go_on(60 * SECOND)
        frozen.clock.thaw()

    async def _replace_one(self) -> None:
        self.start_process()
        await self.stop(self._any())

    async def _take_database(self) -> None:
        self.database.is_away = True
        await self.go_on(120 * SECOND)
        self.database.is_away = False

    async def _break_sites(self, hosts: Sequence[str], fault: Fault, span: timedelta) -> None:
        now = self.clock.now()
        new = [ScheduledFault(host=host, kind="chaos", fault=fault, begins=now, ends=now + span) for host in hosts]
        self.sites.faults = Timetable([*self.sites.faults.scheduled, *new])
        await self.go_on(span)

    async def _kill_browser(self) -> None:
        self._browser_is_dead = True
        await self.go_on(45 * SECOND)
        self._browser_is_dead = False

    async def _replace_browsers(self, by: str, now: datetime) -> None:
        del by, now
        self._browser_is_dead, self._memory = False, 200 * MEBIBYTE

    async def _squeeze_memory(self) -> None:
        self._memory, self._free = 1_600 * MEBIBYTE, 400 * MEBIBYTE
        await self.go_on(10 * SECOND)
        self._memory, self._free = 200 * MEBIBYTE, 4_000 * MEBIBYTE


_BADNESS = [HealthGrade.HEALTHY, HealthGrade.RECOVERING, HealthGrade.DEGRADED, HealthGrade.FAILING]
_EVIDENCE: dict[str, set[str]] = {
    "worker killed": {"JobsRescued"},
    "worker frozen for 60 s": {"JobsRescued", "WatchLost"},
    "worker handed over": set(),
    "database away for 2 min": {"StoreTrouble"},
    "network cut for 30 s": {"network errors"},
    "page hung": {"network errors"},
    "garbage": {"parsing errors"},
    "browser killed": {"browser errors"},
    "memory squeezed": {"soft_restart"},
}
"""Where a person finds each of them afterwards."""


async def _no_vitals() -> dict[str, Any]:
    return {}
