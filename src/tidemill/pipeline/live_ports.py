"""The live lane's ports to the ledger, and the values that pass through them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

from tidemill.core.job import Job
from tidemill.core.live.change import Appended, Change, Fence, Published, ThingKey
from tidemill.core.live.lifecycle import Life, Move
from tidemill.core.live.rules import ListReading, LiveSite, Outlook
from tidemill.core.pacing import Departure, Pace
from tidemill.core.source import Source
from tidemill.pipeline.checkpoints import BreakerChange, Claimed, Fetched
from tidemill.pipeline.dispatch import OpenedRun
from tidemill.pipeline.happenings import JobsRescued
from tidemill.pipeline.ports import HostRateLimits

LIVE_LANE = "live"
WATCH_LEASE = timedelta(seconds=15)
"""A process whose live lane was not seen for so long loses its watches; with the look below, within 18 seconds."""
BEATS_EVERY = timedelta(seconds=5)
LOOKS_EVERY = timedelta(seconds=2)
"""How often a lane looks for watches to take: also the gap after one was handed over."""


class WatchedPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a watch, with all that its gates need; the job in `claimed` is the watch's, at this page."""

    claimed: Claimed
    site: LiveSite | None = None
    missed_lists: int = 0
    checked_at: datetime | None = None
    changed_at: datetime | None = None


class ClaimedWatch(msgspec.Struct, frozen=True, kw_only=True):
    """An hour's watch of one thing as this process has claimed it; of a list page when `thing` is None."""

    job: Job
    due_at: datetime
    pages: Sequence[WatchedPage]
    thing_id: int = 0
    thing: ThingKey | None = None
    life: Life | None = None
    outlook: Outlook | None = None
    published: Published | None = None

    @property
    def fence(self) -> Fence:
        """The proof that the watch is ours."""
        return Fence(self.job.id, self.job.fence)


class PendingEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What one reading, or one move, is to write: in one transaction, in the order of its thing's entries.

    `change` goes into the log under the number `seq`; without one only the life, the move and the vertical's own rows
    are written. `job` is the watch's, at the page that was read; `evidence` is that page. `token` is unique.
    """

    fence: Fence
    thing_id: int
    thing: ThingKey
    token: int
    read_at: datetime
    job: Job
    change: Change | None = None
    seq: int = 0
    source: str = ""
    evidence: Fetched | None = None
    life: Life | None = None
    outlook: Outlook | None = None
    move: Move | None = None
    rows: Sequence[Any] = ()


class Written(msgspec.Struct, frozen=True):
    """What became of entries: those in the log in the order of offsets, and the things whose watch is not ours."""

    appended: Sequence[Appended] = ()
    lost: frozenset[int] = frozenset()


class PageCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What is written about a page every 15 seconds; counts are since the last time."""

    fence: Fence
    thing_id: int
    target_id: int
    source_id: int
    checked_at: datetime | None
    changed_at: datetime | None
    interval: timedelta
    debt: timedelta
    polls: int = 0
    changes: int = 0
    ignored: int = 0
    failures: int = 0
    failed: int = 0


class WatchCounts(msgspec.Struct):
    """What a watch did within its hour: the counts of its run."""

    polls: int = 0
    good: int = 0
    failed: int = 0
    refused: int = 0
    drifted: int = 0
    unchanged: int = 0
    changes: int = 0
    ignored: int = 0
    listed: int = 0
    truncated: int = 0


class EndedWatch(msgspec.Struct, frozen=True):
    """A watch that ends: its job, what it counted, and whether the next hour's is opened in its place."""

    job: Job
    counts: WatchCounts
    is_renewed: bool = False


class ThingFacts(msgspec.Struct, frozen=True):
    """What other processes may have written about a thing: its pages, and how many lists missed each."""

    pages: Mapping[int, int]
    is_paused_by_person: bool = False


class BreakerWord(msgspec.Struct, frozen=True):
    """What polls say about a source, in order: well or unwell."""

    source_id: int
    vertical: str
    answers: Sequence[bool]
    is_hopeless: bool = False


class HostLesson(msgspec.Struct, frozen=True):
    """What an answer taught about its host: to be left alone until a moment, or a Crawl-delay."""

    host: str
    rests_until: datetime | None = None
    crawl_delay: timedelta | None = None


class WatchLedger(Protocol):
    """Watches, leases and what watches write. Every method may raise `StoreError`."""

    async def beat(self, worker_id: int, now: datetime) -> int:
        """Say that the lane lives, and return how many lanes do; 0 when the worker was given up meanwhile."""
        ...

    async def still_held(self, worker_id: int) -> frozenset[Fence]:
        """Return the watches that a worker holds."""
        ...

    async def free_dead(self, now: datetime) -> list[JobsRescued]:
        """Free the watches of lanes that were not seen for a lease, and those that are long past their hour."""
        ...

    async def has_any(self) -> bool:
        """Return whether anything is watched, by whomever, or should be."""
        ...

    async def open_missing(self, now: datetime) -> list[OpenedRun]:
        """Open a watch for every thing and list that should have one and has none."""
        ...

    async def claim(self, worker_id: int, limit: int, now: datetime, skip: Collection[int] = ()) -> list[ClaimedWatch]:
        """Take up to so many watches, but none of these jobs."""
        ...

    async def reload(self, watches: Sequence[Job]) -> list[ClaimedWatch]:
        """Return watches that are held, as they stand now: other sites may tell of their things."""
        ...

    async def release(self, watches: Sequence[EndedWatch], now: datetime, until: datetime | None = None) -> None:
        """Hand watches back with their counts: to whoever claims first, or to nobody before a moment."""
        ...

    async def end(
        self, ended: Sequence[EndedWatch], worker_id: int, now: datetime
    ) -> tuple[Mapping[int, Job], tuple[int, ...]]:
        """End watches, each with the counts of its run, and open those of the next hour in the same hands.

        Return the new job by the old one's id, and the runs that ended.
        """
        ...

    async def write(self, entries: Sequence[PendingEntry], now: datetime) -> Written:
        """Write entries in one transaction, those whose fence holds; all of them or, if it raises, none."""
        ...

    async def write_left_behind(self, entries: Sequence[PendingEntry], now: datetime) -> int:
        """Write entries of a process that is gone, where they follow what is written; return how many are there."""
        ...

    def publish(self, appended: Sequence[Appended]) -> None:
        """Tell this process's readers of what was committed."""
        ...

    async def note_checks(self, checks: Sequence[PageCheck], now: datetime) -> None:
        """Write when pages were checked, and their counts."""
        ...

    async def facts(self, things: Sequence[int]) -> Mapping[int, ThingFacts]:
        """Return what is written about things."""
        ...

    async def put_list(
        self, source: Source, adapter_id: str, reading: ListReading, now: datetime
    ) -> Sequence[tuple[ThingKey, Move]]:
        """Take in a list: new things, those that are back, and those that it misses. Return the moves it made."""
        ...

    async def signal(
        self, words: Sequence[BreakerWord], lessons: Sequence[HostLesson], now: datetime
    ) -> Sequence[BreakerChange]:
        """Tell breakers and hosts what polls met; return the breakers that changed state."""
        ...


class SlotBatch(msgspec.Struct, frozen=True):
    """Departures that were booked together; `others_wait` when jobs of other lanes wait for the same host.

    `rests_until` is set, and nothing is booked, when the host asked to be left alone.
    """

    departures: Sequence[Departure] = ()
    others_wait: bool = False
    rests_until: datetime | None = None


class BulkHostRateLimits(HostRateLimits, Protocol):
    """Rate limits of which several slots can be bought at once."""

    async def reserve_many(
        self, host: str, pace: Pace, count: int, within: timedelta, now: datetime, mine: datetime | None
    ) -> SlotBatch:
        """Book up to `count` requests that may leave within a while, at least one."""
        ...

    async def give_back(self, host: str, pace: Pace, unused: int, booked_until: datetime) -> bool:
        """Undo the last `unused` bookings, if nobody has booked since; return whether it was done."""
        ...
