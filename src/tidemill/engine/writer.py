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
from tidemill.engine.announcer import CommitAnnouncer
from tidemill.engine.ports import JobLedger
from tidemill.pipeline.checkpoints import Checkpoint, Committed
from tidemill.pipeline.ports import Clock, StoreBusy, StoreConflict, StoreError, StoreLost

MAX_GROUP = 256
"""Checkpoints in one transaction at most."""
WANTED_GROUP = 180
"""A busy worker waits a moment for a group of this size."""
RUNS_PER_TRANSACTION = 16
"""Runs closed in one transaction: where a source is one page, runs end as often as pages do."""
GROUP_WAIT = timedelta(milliseconds=15)
TRIES_AT_ONCE = 3
"""How often a transaction that was undone for another is repeated without a pause, and without a word."""
NO_PAUSE = timedelta(0)
BUSY_PAUSES = (timedelta(milliseconds=250), timedelta(seconds=5))
LOST_PAUSES = (timedelta(seconds=1), timedelta(seconds=30))
"""The first pause and the longest: each is twice the one before."""


class Writer:
    """Takes checkpoints one by one, writes them group by group."""

    def __init__(
        self, ledger: JobLedger, clock: Clock, announcer: CommitAnnouncer, policies: Mapping[str, Policy]
    ) -> None:
        """`policies` by vertical; nothing is written until `commit_next` is awaited."""
        self._policies = policies
        self._ledger = ledger
        self._clock = clock
        self._announcer = announcer
        self._waiting: deque[Checkpoint] = deque()
        self._has_waiting = asyncio.Event()
        self._group_is_full = asyncio.Event()

    def put(self, checkpoint: Checkpoint) -> None:
        """Queue a checkpoint for the next group."""
        self._waiting.append(checkpoint)
        self._has_waiting.set()
        if len(self._waiting) >= WANTED_GROUP:
            self._group_is_full.set()

    def flush(self) -> None:
        """Commit the waiting checkpoints without waiting for more; does nothing if there are none."""
        if self._waiting:
            self._group_is_full.set()

    async def commit_next(self, *, busy: bool) -> tuple[list[Checkpoint], Committed]:
        """Commit the next group and announce its events; if `busy`, wait a moment for the group to grow."""
        await self._has_waiting.wait()
        if busy and len(self._waiting) < WANTED_GROUP:
            await self._wait_for_more()
        batch = [self._waiting.popleft() for _ in range(min(MAX_GROUP, len(self._waiting)))]
        if not self._waiting:
            self._has_waiting.clear()
        if len(self._waiting) < WANTED_GROUP:
            self._group_is_full.clear()
        committed = await self._commit(batch)
        return batch, committed

    async def _wait_for_more(self) -> None:
        grown = asyncio.ensure_future(self._group_is_full.wait())
        pause = asyncio.ensure_future(self._clock.sleep_until(self._clock.now() + GROUP_WAIT))
        try:
            await asyncio.wait((grown, pause), return_when=asyncio.FIRST_COMPLETED)
        finally:
            grown.cancel()
            pause.cancel()

    async def _commit(self, batch: list[Checkpoint]) -> Committed:
        """Commit and announce; a group that is refused is written one by one: one checkpoint may be at fault."""
        try:
            committed = await self._commit_with_retries(batch)
        except Exception as refusal:  # noqa: BLE001 - even a bug in writing one record must not fail the other jobs
            if len(batch) == 1:
                return await self._give_up(batch[0], refusal)
            committed_singly = [await self._commit([checkpoint]) for checkpoint in batch]
            return Committed(frozenset().union(*(each.still_leased for each in committed_singly)))
        await self._announce(batch, committed)
        return committed

    async def _commit_with_retries(self, batch: list[Checkpoint]) -> Committed:
        """Commit, and retry for as long as the database is unavailable."""
        tries = 0
        while True:
            try:
                return await self._ledger.commit(batch, self._clock.now())
            except StoreLost as trouble:
                if pause := pause_after(trouble, tries):
                    self._announcer.store_trouble(str(trouble))
                    await self._clock.sleep_until(self._clock.now() + pause)
                tries += 1

    async def _give_up(self, checkpoint: Checkpoint, refusal: Exception) -> Committed:
        """Fail the job whose output cannot be written; if even that is refused, its lease expires."""
        self._announcer.store_trouble(str(refusal))
        policy = self._policies.get(checkpoint.claimed.job.vertical)
        if policy is None:  # its vertical is not installed: it was only to wait, and its lease runs out
            return Committed(frozenset())
        fail = failure_of(refusal)
        transition = after_failure(checkpoint.claimed.job, fail, policy, self._clock.now(), 0.0)
        failed = msgspec.structs.replace(checkpoint, outcome=fail, transition=transition)
        try:
            committed = await self._commit_with_retries([failed])
        except StoreError as again:
            self._announcer.store_trouble(str(again))
        else:
            await self._announce([failed], committed)
        return Committed(frozenset())

    async def _announce(self, batch: list[Checkpoint], committed: Committed) -> None:
        await self._close_runs(committed)
        self._announcer.committed(batch, committed)

    async def _close_runs(self, committed: Committed) -> None:
        finished = committed.finished_runs
        for start in range(0, len(finished), RUNS_PER_TRANSACTION):
            await self._close(finished[start : start + RUNS_PER_TRANSACTION])

    async def _close(self, run_ids: tuple[int, ...]) -> None:
        """Close runs together; if that is refused, one by one, because one run may be at fault."""
        try:
            closed = await self._ledger.close_runs(run_ids, self._clock.now())
        except StoreError as trouble:
            if len(run_ids) == 1 or isinstance(trouble, StoreLost):
                self._announcer.store_trouble(str(trouble))  # the close_runs tick finds them
                return
            for run_id in run_ids:
                await self._close((run_id,))
        else:
            for summary in closed:
                self._announcer.run_closed(summary)


def pause_after(trouble: StoreLost, tries: int) -> timedelta:
    """How long to wait before the next try, when so many had failed before this one."""
    if isinstance(trouble, StoreConflict) and tries < TRIES_AT_ONCE:
        return NO_PAUSE
    first, longest = BUSY_PAUSES if isinstance(trouble, StoreBusy) else LOST_PAUSES
    return min(longest, first * (1 << min(tries, 16)))


def failure_of(refusal: Exception) -> Fail:
    """Return the failure of a job whose output could not be written: a refused write, or a bug of ours."""
    if isinstance(refusal, StoreError):
        return Fail(Failure.WRITE_FAILED, str(refusal)[:500])
    stack = "".join(traceback.format_exception(refusal))
    return Fail(Failure.BUG, f"{type(refusal).__name__}: {refusal}"[:500], stack=stack)
