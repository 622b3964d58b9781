"""The live lane's face of the store: leases, watches, what they write, and what lists bring."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, case, update

from tidemill.core.job import Job
from tidemill.core.live.change import Appended, Fence, ThingKey
from tidemill.core.live.lifecycle import LifecyclePolicy, Move
from tidemill.core.live.rules import ListReading
from tidemill.core.source import Source
from tidemill.core.vertical import Vertical
from tidemill.pipeline.checkpoints import BreakerChange
from tidemill.pipeline.dispatch import OpenedRun
from tidemill.pipeline.happenings import JobsRescued
from tidemill.pipeline.live_ports import (
    BreakerWord,
    ClaimedWatch,
    EndedWatch,
    HostLesson,
    PageCheck,
    PendingEntry,
    ThingFacts,
    Written,
)
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger import breakers
from tidemill.store.live.changes import WatchWrites
from tidemill.store.live.claims import WatchClaims
from tidemill.store.live.leases import WatchLeases
from tidemill.store.live.lists import ListedThings
from tidemill.store.live.watches import WatchJobs
from tidemill.store.pages.bodies import Bodies
from tidemill.store.records.live import ChangeLog, LiveThings
from tidemill.store.schema import hosts
from tidemill.store.sources.hosts import MILLISECOND, Paces

_REST = (
    update(hosts)
    .where(hosts.c.host == bindparam("b_host"))
    .values(opens_at=case((hosts.c.opens_at > bindparam("b_until"), hosts.c.opens_at), else_=bindparam("b_until")))
)
_DELAY = update(hosts).where(hosts.c.host == bindparam("b_host")).values(crawl_delay_ms=bindparam("b_delay"))


class LiveLedger:
    """Implements `WatchLedger`."""

    def __init__(
        self,
        database: Database,
        ids: Ids,
        bodies: Bodies,
        log: ChangeLog,
        verticals: Mapping[str, Vertical],
        things: Mapping[str, LiveThings],
        paces: Paces | None = None,
        policy: LifecyclePolicy | None = None,
    ) -> None:
        """`verticals` and `things` by the vertical's name."""
        self._database = database
        self._verticals = verticals
        self._log = log
        self._leases = WatchLeases(database)
        self._jobs = WatchJobs(database, ids, verticals)
        self._claims = WatchClaims(database, log)
        self._writes = WatchWrites(database, ids, bodies, log, things)
        self._lists = ListedThings(database, ids, things, paces or Paces(), policy or LifecyclePolicy())

    async def beat(self, worker_id: int, now: datetime) -> int:
        """Say that the lane lives; answers how many lanes do, 0 when the worker was given up meanwhile."""
        return await self._leases.beat(worker_id, now)

    async def still_held(self, worker_id: int) -> frozenset[Fence]:
        """The watches that a worker holds."""
        return await self._leases.still_held(worker_id)

    async def free_dead(self, now: datetime) -> list[JobsRescued]:
        """Free the watches of lanes that were not seen for a lease."""
        return await self._leases.free_dead(now)

    async def has_any(self) -> bool:
        """Whether anything is watched, by whomever, or should be."""
        return await self._jobs.has_any()

    async def open_missing(self, now: datetime) -> list[OpenedRun]:
        """Open a watch for whatever should be watched and is not."""
        return await self._jobs.open_missing(now)

    async def claim(self, worker_id: int, limit: int, now: datetime, skip: Collection[int] = ()) -> list[ClaimedWatch]:
        """Take up to so many watches."""
        return await self._claims.claim(worker_id, limit, now, skip)

    async def reload(self, watches: Sequence[Job]) -> list[ClaimedWatch]:
        """Read watches again that are held."""
        return await self._claims.reload(watches)

    async def release(self, watches: Sequence[EndedWatch], now: datetime, until: datetime | None = None) -> None:
        """Hand watches back."""
        await self._leases.release(watches, now, until)

    async def end(
        self, ended: Sequence[EndedWatch], worker_id: int, now: datetime
    ) -> tuple[Mapping[int, Job], tuple[int, ...]]:
        """End watches, and open those of the next hour in the same hands."""
        return await self._jobs.end(ended, worker_id, now)

    async def write(self, entries: Sequence[PendingEntry], now: datetime) -> Written:
        """Write entries of watches that are still ours."""
        return await self._writes.write(entries, now)

    async def write_left_behind(self, entries: Sequence[PendingEntry], now: datetime) -> int:
        """Write entries of a process that is gone, where they follow what is written."""
        return await self._writes.write_left_behind(entries, now)

    def publish(self, appended: Sequence[Appended]) -> None:
        """Tell this process's readers."""
        self._log.publish(appended)

    async def note_checks(self, checks: Sequence[PageCheck], now: datetime) -> None:
        """Write when pages were checked."""
        await self._writes.note_checks(checks, now)

    async def facts(self, things: Sequence[int]) -> Mapping[int, ThingFacts]:
        """What is written about things."""
        return await self._lists.facts(things)

    async def put_list(
        self, source: Source, adapter_id: str, reading: ListReading, now: datetime
    ) -> Sequence[tuple[ThingKey, Move]]:
        """Take in a list."""
        return await self._lists.put(source, adapter_id, reading, now)

    async def signal(
        self, words: Sequence[BreakerWord], lessons: Sequence[HostLesson], now: datetime
    ) -> Sequence[BreakerChange]:
        """Tell breakers and hosts what polls met."""
        signals = [
            breakers.Signal(
                each.source_id, self._verticals[each.vertical].policy.breaker, each.answers, each.is_hopeless
            )
            for each in words
        ]
        rests = [{"b_host": each.host, "b_until": each.rests_until} for each in lessons if each.rests_until is not None]
        delays = [
            {"b_host": each.host, "b_delay": each.crawl_delay // MILLISECOND}
            for each in lessons
            if each.crawl_delay is not None and each.crawl_delay > timedelta(0)
        ]
        async with self._database.write() as connection:
            await write_each(connection, _REST, sorted(rests, key=lambda row: row["b_host"]))
            await write_each(connection, _DELAY, sorted(delays, key=lambda row: row["b_host"]))
            return await breakers.record(connection, signals, now) if signals else []
