"""What the engine needs from the ledger and from whoever wakes it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from tidemill.core.run import RunSummary
from tidemill.engine.clock import ClockJump
from tidemill.pipeline.checkpoints import Checkpoint, Claimed, Committed, Resumed


class JobLedger(Protocol):
    """Jobs, leases and checkpoints; the database is the queue."""

    async def claim(self, lane: str, limit: int, worker_id: int, now: datetime) -> list[Claimed]:
        """Take jobs that may run now."""
        ...

    async def next_moment(self, now: datetime, lane: str) -> datetime | None:
        """The first moment after `now` at which a job of the lane may become claimable by time alone.

        Asked for the moment of the last claim: what that claim could have taken is not told again, or a worker would
        turn without end over jobs that it cannot have.
        """
        ...

    async def restore(self, claimed: Sequence[Claimed]) -> list[Resumed]:
        """Read back what resumed jobs work on."""
        ...

    async def commit(self, batch: Sequence[Checkpoint], now: datetime) -> Committed:
        """Write outputs and moves of the jobs that are still ours."""
        ...

    async def close_runs(self, run_ids: Sequence[int], now: datetime) -> list[RunSummary]:
        """Close runs whose jobs have all ended; answers those that nobody had closed before."""
        ...

    async def reserve_keys(self, count: int) -> None:
        """Make sure that stages can take so many keys without asking."""
        ...


class WorkerRegistry(Protocol):
    """Who works: one heartbeat holds all of a worker's leases."""

    @property
    def lease(self) -> timedelta:
        """How long a worker may go unseen."""
        ...

    @property
    def heartbeat(self) -> timedelta:
        """How often to be seen."""
        ...

    async def register(self, name: str, pid: int, now: datetime) -> int:
        """Sign in; answers the worker's key."""
        ...

    async def beat(self, worker_id: int, now: datetime) -> bool:
        """Be seen; False when the worker was given up meanwhile."""
        ...

    async def sign_off(self, worker_id: int, now: datetime) -> int:
        """Leave in good order; answers how many jobs were handed back."""
        ...

    async def last_seen(self) -> datetime | None:
        """When any worker was last seen."""
        ...

    async def hand_back(self, worker_id: int, lane: str) -> int:
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
    """One row per piece of periodic work and slot."""

    async def take(self, name: str, slot: datetime, worker_id: int, now: datetime) -> bool:
        """Whether the slot is ours."""
        ...

    async def finish(self, name: str, slot: datetime, status: str, detail: str, now: datetime) -> None:
        """Write down how it went."""
        ...

    async def last_success(self, names: Sequence[str]) -> dict[str, datetime]:
        """When each piece of work last went well."""
        ...

    async def since(self) -> datetime | None:
        """The earliest slot on record of anything."""
        ...


class Waker(Protocol):
    """Tells workers that there is work. A lost wake-up costs one tick, a doubled one an empty claim."""

    def wake(self, workers: int) -> None:
        """Rouse up to so many workers."""
        ...
