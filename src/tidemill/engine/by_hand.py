"""One stage by hand: a drain that is given certain jobs, and lets go of each after one stage."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from tidemill.core.run import RunSummary
from tidemill.engine.drain import Drain
from tidemill.engine.ports import JobLedger
from tidemill.pipeline.checkpoints import Checkpoint, Claimed, Committed, Resumed, WriteCounts


class OneStageDone(msgspec.Struct, frozen=True):
    """What a stage answered for one job; `counts` say what was written, where something was."""

    checkpoint: Checkpoint
    counts: WriteCounts | None = None
    held: bool = True


class DrainFactory(Protocol):
    """Makes a new drain."""

    def __call__(self, by_hand: "OneStageLedger | None" = None) -> Drain:
        """Return a drain that has not begun; `by_hand` lets it do one stage of certain jobs only."""
        ...


class OneStageLedger:
    """The ledger as a drain sees it that is to do one stage of certain jobs and no more.

    With `is_dry` nothing is written: what the stage answers is kept in `done`, and the jobs stay as they are.
    """

    def __init__(self, ledger: JobLedger, chosen: Sequence[Claimed], *, is_dry: bool = False) -> None:
        """`chosen` are leased, unless nothing is to be written."""
        self._ledger = ledger
        self._chosen = list(chosen)
        self.is_dry = is_dry
        self.done: list[OneStageDone] = []

    async def claim(self, _lane: str, limit: int, _worker_id: int, _now: datetime) -> list[Claimed]:
        """Hand out the chosen jobs, once."""
        taken, self._chosen = self._chosen[:limit], self._chosen[limit:]
        return taken

    async def next_moment(self, now: datetime, _lane: str) -> datetime | None:
        """Nothing comes by time; what did not fit into the first claim is there now."""
        return now if self._chosen else None

    async def restore(self, claimed: Sequence[Claimed]) -> list[Resumed]:
        """Read back what the stage works on."""
        return await self._ledger.restore(claimed)

    async def commit(self, batch: Sequence[Checkpoint], now: datetime) -> Committed:
        """Write what the stage answered, unless nothing is to be written; keep it to be shown."""
        if self.is_dry:
            self.done += [OneStageDone(each) for each in batch]
            return Committed(frozenset())
        committed = await self._ledger.commit(batch, now)
        self.done += [
            OneStageDone(each, committed.kept.get(each.claimed.job.id), each.claimed.job.id in committed.still_leased)
            for each in batch
        ]
        return committed

    async def close_runs(self, run_ids: Sequence[int], now: datetime) -> list[RunSummary]:
        """Close runs whose jobs have all ended."""
        return await self._ledger.close_runs(run_ids, now)

    async def reserve_keys(self, count: int) -> None:
        """Reserve keys, so that stages can take so many without I/O."""
        await self._ledger.reserve_keys(count)
