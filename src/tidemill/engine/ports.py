"""The engine's ports to the ledger, and for waking workers."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from tidemill.core.outcome import Fail
from tidemill.core.run import RunSummary
from tidemill.engine.clock import ClockJump
from tidemill.pipeline.checkpoints import Checkpoint, Claimed, Committed, Resumed
from tidemill.pipeline.page_reading import PageTask, ReadResult
from tidemill.pipeline.reader_functions.function import Answered, Asked, ReaderFunction


class JobLedger(Protocol):
    """Jobs, leases and checkpoints; the database is the queue."""

    async def claim(self, lane: str, limit: int, worker_id: int, now: datetime) -> list[Claimed]:
        """Lease jobs that may run now."""
        ...

    async def next_moment(self, now: datetime, lane: str) -> datetime | None:
        """Return the first moment after `now` at which a job of the lane may become claimable by time alone.

        `now` is the moment of the last claim: what that claim could have taken is left out, or a worker would
        loop endlessly over jobs that it cannot claim.
        """
        ...

    async def restore(self, claimed: Sequence[Claimed]) -> list[Resumed]:
        """Load the stage inputs of resumed jobs."""
        ...

    async def commit(self, batch: Sequence[Checkpoint], now: datetime) -> Committed:
        """Write outputs and transitions of the jobs that are still leased to us."""
        ...

    async def close_runs(self, run_ids: Sequence[int], now: datetime) -> list[RunSummary]:
        """Close runs whose jobs have all ended; return those that were not closed before."""
        ...

    async def reserve_keys(self, count: int) -> None:
        """Reserve keys, so that stages can take so many without I/O."""
        ...


class PageReaders(Protocol):
    """Reads pages where reading cannot hurt: in processes that are killed when a page is too hard for them."""

    def submit(self, task: PageTask, done: Callable[[ReadResult], None]) -> None:
        """Read a page; `done` is called from the event loop with what came of it."""
        ...

    async def call(self, function: ReaderFunction[Asked, Answered], asked: Asked) -> Answered | Fail:
        """Run a function over scraped text; return its answer, or why there is none."""
        ...

    async def close(self) -> None:
        """End every process."""
        ...


class WorkerRegistry(Protocol):
    """The registered workers; one heartbeat renews all of a worker's leases."""

    @property
    def lease(self) -> timedelta:
        """How long a worker may go without a heartbeat."""
        ...

    @property
    def heartbeat(self) -> timedelta:
        """How often to send a heartbeat."""
        ...

    async def register(self, name: str, pid: int, now: datetime, lanes: Sequence[str] = ()) -> int:
        """Register a worker that takes the jobs of these lanes, and return its key."""
        ...

    async def beat(self, worker_id: int, now: datetime, skew: timedelta | None = None) -> bool:
        """Record a heartbeat, and by how much our clock is ahead of the database's where that was measured.

        Return False when the worker was given up meanwhile.
        """
        ...

    async def sign_off(self, worker_id: int, now: datetime) -> int:
        """Unregister a worker and return how many jobs were released."""
        ...

    async def last_seen(self) -> datetime | None:
        """When any worker was last seen."""
        ...

    async def release_lane(self, worker_id: int, lane: str) -> int:
        """Free what a worker holds in one lane; answers how many jobs were handed back."""
        ...


class MachineClock(Protocol):
    """A clock that the machine's own is compared with: somebody may set that one."""

    def compare(self) -> ClockJump | None:
        """Follow the machine's clock; answers by how much it was set, if so."""
        ...

    def catch_up(self, moment: datetime) -> ClockJump | None:
        """Begin no earlier than a moment that is known to have come."""
        ...


class SlotRepository(Protocol):
    """One row per chore and time slot."""

    async def take(self, name: str, slot: datetime, worker_id: int, now: datetime) -> bool:
        """Take a slot; return False when another process has it."""
        ...

    async def finish(self, name: str, slot: datetime, status: str, detail: str, now: datetime) -> None:
        """Store how a slot's run went."""
        ...

    async def last_success(self, names: Sequence[str]) -> dict[str, datetime]:
        """Return when each chore last succeeded."""
        ...

    async def since(self) -> datetime | None:
        """Return the earliest stored slot of any chore."""
        ...


class Waker(Protocol):
    """Wakes workers when there is work. A lost wake-up costs one poll interval, a doubled one an empty claim."""

    def wake(self, workers: int) -> None:
        """Wake up to so many workers."""
        ...
