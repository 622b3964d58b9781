"""The writer: collects the checkpoints of many jobs into one transaction."""

import asyncio
import traceback
from collections import deque
from collections.abc import Mapping
from datetime import timedelta

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.job import after_failure
from tidemill.core.outcome import Fail
from tidemill.core.policy import Policy
from tidemill.engine.narrator import Narrator
from tidemill.engine.ports import JobLedger
from tidemill.pipeline.checkpoints import Checkpoint, Committed
from tidemill.pipeline.ports import Clock, StoreBusy, StoreConflict, StoreError, StoreLost

GROUP = 256
"""Checkpoints in one transaction at most."""
WORTH_WAITING = 180
"""A busy worker waits a moment for a group of this size."""
CLOSED_AT_ONCE = 16
"""Runs closed in one transaction: where an agenda is one page, runs end as often as pages do."""
LINGER = timedelta(milliseconds=15)
TRIES_AT_ONCE = 3
"""How often a transaction that was undone for another is repeated without a pause, and without a word."""
NO_PAUSE = timedelta(0)
BUSY_PAUSES = (timedelta(milliseconds=250), timedelta(seconds=5))
LOST_PAUSES = (timedelta(seconds=1), timedelta(seconds=30))
"""The first pause and the longest: each is twice the one before."""


class Writer:
    """Takes checkpoints one by one, writes them group by group."""

    def __init__(self, ledger: JobLedger, clock: Clock, narrator: Narrator, policies: Mapping[str, Policy]) -> None:
        """Nothing is written until `commit_next` is awaited; `policies` by vertical."""
        self._policies = policies
        self._ledger = ledger
        self._clock = clock
        self._narrator = narrator
        self._waiting: deque[Checkpoint] = deque()
        self._something = asyncio.Event()
        self._plenty = asyncio.Event()

    def put(self, checkpoint: Checkpoint) -> None:
        """Queue a checkpoint for the next group."""
        self._waiting.append(checkpoint)
        self._something.set()
        if len(self._waiting) >= WORTH_WAITING:
            self._plenty.set()

    def hurry(self) -> None:
        """Nothing more will come before what waits has been written; where nothing waits, nothing is to be hurried."""
        if self._waiting:
            self._plenty.set()

    async def commit_next(self, *, busy: bool) -> tuple[list[Checkpoint], Committed]:
        """Write the next group and announce what happened; a busy worker first lets the group grow."""
        await self._something.wait()
        if busy and len(self._waiting) < WORTH_WAITING:
            await self._linger()
        batch = [self._waiting.popleft() for _ in range(min(GROUP, len(self._waiting)))]
        if not self._waiting:
            self._something.clear()
        if len(self._waiting) < WORTH_WAITING:
            self._plenty.clear()
        committed = await self._commit(batch)
        return batch, committed

    async def _linger(self) -> None:
        grown = asyncio.ensure_future(self._plenty.wait())
        pause = asyncio.ensure_future(self._clock.sleep_until(self._clock.now() + LINGER))
        try:
            await asyncio.wait((grown, pause), return_when=asyncio.FIRST_COMPLETED)
        finally:
            grown.cancel()
            pause.cancel()

    async def _commit(self, batch: list[Checkpoint]) -> Committed:
        """Commit, and tell of it; a group that is refused is written one by one, for one may spoil it for all."""
        try:
            committed = await self._patiently(batch)
        except Exception as refusal:  # noqa: BLE001 - even a bug in writing one record is not its neighbours' fault
            if len(batch) == 1:
                return await self._give_up(batch[0], refusal)
            alone = [await self._commit([checkpoint]) for checkpoint in batch]
            return Committed(frozenset().union(*(each.held for each in alone)))
        await self._tell(batch, committed)
        return committed

    async def _patiently(self, batch: list[Checkpoint]) -> Committed:
        """Commit, however long the database is away."""
        tries = 0
        while True:
            try:
                return await self._ledger.commit(batch, self._clock.now())
            except StoreLost as trouble:
                if pause := pause_after(trouble, tries):
                    self._narrator.store_trouble(str(trouble))
                    await self._clock.sleep_until(self._clock.now() + pause)
                tries += 1

    async def _give_up(self, checkpoint: Checkpoint, refusal: Exception) -> Committed:
        """Fail the job whose output cannot be written; if even that is refused, its lease runs out."""
        self._narrator.store_trouble(str(refusal))
        fail = failure_of(refusal)
        step = after_failure(
            checkpoint.claimed.job, fail, self._policies[checkpoint.claimed.job.vertical], self._clock.now(), 0.0
        )
        failed = msgspec.structs.replace(checkpoint, outcome=fail, move=step)
        try:
            committed = await self._patiently([failed])
        except StoreError as again:
            self._narrator.store_trouble(str(again))
        else:
            await self._tell([failed], committed)
        return Committed(frozenset())

    async def _tell(self, batch: list[Checkpoint], committed: Committed) -> None:
        await self._close_runs(committed)
        self._narrator.committed(batch, committed)

    async def _close_runs(self, committed: Committed) -> None:
        finished = committed.finished_runs
        for start in range(0, len(finished), CLOSED_AT_ONCE):
            await self._close(finished[start : start + CLOSED_AT_ONCE])

    async def _close(self, run_ids: tuple[int, ...]) -> None:
        """Close runs together; if that is refused, one by one, for one may spoil it for all."""
        try:
            closed = await self._ledger.close_runs(run_ids, self._clock.now())
        except StoreError as trouble:
            if len(run_ids) == 1 or isinstance(trouble, StoreLost):
                self._narrator.store_trouble(str(trouble))  # the close_runs tick finds them
                return
            for run_id in run_ids:
                await self._close((run_id,))
        else:
            for summary in closed:
                self._narrator.run_closed(summary)


def pause_after(trouble: StoreLost, tries: int) -> timedelta:
    """How long to wait before the next try, when so many had failed before this one."""
    if isinstance(trouble, StoreConflict) and tries < TRIES_AT_ONCE:
        return NO_PAUSE
    first, longest = BUSY_PAUSES if isinstance(trouble, StoreBusy) else LOST_PAUSES
    return min(longest, first * (1 << min(tries, 16)))


def failure_of(refusal: Exception) -> Fail:
    """What it means for a job that its output could not be written: the database's word, or a bug of ours."""
    if isinstance(refusal, StoreError):
        return Fail(Failure.WRITE_FAILED, str(refusal)[:500])
    stack = "".join(traceback.format_exception(refusal))
    return Fail(Failure.BUG, f"{type(refusal).__name__}: {refusal}"[:500], stack=stack)
