"""The writer: collects the checkpoints of many jobs into one transaction (D-3)."""

import asyncio
from collections import deque
from datetime import timedelta

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.job import Move, after_failure
from tidemill.core.outcome import Fail
from tidemill.core.policy import AGENDA
from tidemill.engine.narrator import Narrator
from tidemill.engine.ports import Ledger
from tidemill.pipeline.checkpoints import Checkpoint, Committed
from tidemill.pipeline.ports import Clock, StoreError, StoreLost

GROUP = 256
"""Checkpoints in one transaction at most."""
WORTH_WAITING = 96
"""A busy worker waits a moment for a group of this size."""
LINGER = timedelta(milliseconds=15)
FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=30)


class Writer:
    """Takes checkpoints one by one, writes them group by group."""

    def __init__(self, ledger: Ledger, clock: Clock, narrator: Narrator) -> None:
        """Nothing is written until `commit_next` is awaited."""
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
        """Commit, however long the database is away; a group that is refused is tried one by one."""
        pause = FIRST_PAUSE
        while True:
            try:
                committed = await self._ledger.commit(batch, self._clock.now())
            except StoreLost as trouble:
                self._narrator.store_trouble(str(trouble))
                await self._clock.sleep_until(self._clock.now() + pause)
                pause = min(LONGEST_PAUSE, pause * 2)
                continue
            except StoreError as refusal:
                committed = await self._one_by_one(batch, refusal)
            await self._close_runs(committed)
            self._narrator.committed(batch, committed)
            return committed

    async def _one_by_one(self, batch: list[Checkpoint], refusal: StoreError) -> Committed:
        """One record that the database will not take must not hold up its neighbours."""
        if len(batch) == 1:
            return await self._give_up(batch[0], refusal)
        held: set[int] = set()
        finished: list[int] = []
        for checkpoint in batch:
            try:
                one = await self._ledger.commit([checkpoint], self._clock.now())
            except StoreLost:
                raise
            except StoreError as alone:
                one = await self._give_up(checkpoint, alone)
            held |= one.held
            finished.extend(one.finished_runs)
        return Committed(frozenset(held), tuple(finished))

    async def _give_up(self, checkpoint: Checkpoint, refusal: StoreError) -> Committed:
        """Fail the job whose output cannot be written; if even that is refused, its lease runs out."""
        self._narrator.store_trouble(str(refusal))
        fail = Fail(Failure.WRITE_FAILED, str(refusal)[:500])
        step: Move = after_failure(checkpoint.claimed.job, fail, AGENDA, self._clock.now(), 0.0)
        failed = msgspec.structs.replace(checkpoint, outcome=fail, move=step)
        try:
            committed = await self._ledger.commit([failed], self._clock.now())
        except StoreError as again:
            self._narrator.store_trouble(str(again))
            return Committed(frozenset())
        return msgspec.structs.replace(committed, held=frozenset())

    async def _close_runs(self, committed: Committed) -> None:
        for run_id in committed.finished_runs:
            try:
                summary = await self._ledger.close_run(run_id, self._clock.now())
            except StoreError as trouble:  # the close_runs tick finds it
                self._narrator.store_trouble(str(trouble))
            else:
                if summary is not None:
                    self._narrator.run_closed(summary)
