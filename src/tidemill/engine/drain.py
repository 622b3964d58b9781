"""Drain: claim jobs, run them through their stages, and commit each step together with others."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.job import SUSPECT_AFTER, JobTransition, snooze_job, transition_for
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze, Stage
from tidemill.core.services.enrichment import ModelAnswer
from tidemill.engine.announcer import CommitAnnouncer
from tidemill.engine.ports import JobLedger, PageReaders
from tidemill.engine.writer import Writer
from tidemill.pipeline.checkpoints import Checkpoint, Claimed, Fetched, Judged, Parsed, Unchanged
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.fetch import fetch
from tidemill.pipeline.normalize import judged_anew, normalize
from tidemill.pipeline.page_reading import (
    PageTask,
    ReadResult,
    bug_failure,
    page_to_read,
    read_page,
    records_to_judge,
)
from tidemill.pipeline.parse import held_reading, parse, parse_outcome
from tidemill.pipeline.persist import persist
from tidemill.pipeline.ports import Dice, StoreError, StoreLost
from tidemill.pipeline.recovery import open_request_keys

CAPACITY = 600
"""Jobs leased at once: enough for one group in a commit, one in a stage and one being fetched."""
RECHECK_INSTALLED = timedelta(hours=1)
"""How long a job waits before a worker checks again whether its vertical is installed."""
AWAY = timedelta(seconds=30)
"""How long a job waits whose gates could not be asked because the database was away."""
STAGES_PER_TURN = 4
"""Stages run in a row before the event loop gets a turn, in which commits and sockets are served."""


class Drain:
    """One worker on one lane: claims jobs and runs their stages until none are left."""

    def __init__(
        self,
        ledger: JobLedger,
        deps: StageDependencies,
        dice: Dice,
        announcer: CommitAnnouncer,
        *,
        worker_id: Callable[[], int],
        capacity: int = CAPACITY,
        lane_capacity: Mapping[str, int] | None = None,
        commits: int = 1,
        readers: PageReaders | None = None,
        one_stage: bool = False,
    ) -> None:
        """`worker_id` is called at each claim: a worker that was given up registers under a new key.

        `commits` is how many groups the database can commit at once. All jobs of a source are written by one writer, so
        that two groups never wait for each other's rows.
        `lane_capacity` sets a lower capacity for some lanes: jobs that wait for a browser are better left to others.
        `readers` read pages in processes of their own; without them pages are read inline.
        With `one_stage` a job is let go of after one stage; it stays leased, before the next.
        """
        self._ledger = ledger
        self._deps = deps
        self._dice = dice
        self._worker_id = worker_id
        self._capacity = capacity
        self._lane_capacity = lane_capacity or {}
        policies = {name: vertical.policy for name, vertical in deps.verticals.items()}
        self._writers = [Writer(ledger, deps.clock, announcer, policies) for _ in range(commits)]
        self._writer_of: dict[int, Writer] = {}
        self._readers = readers
        self._one_stage = one_stage
        self._held_jobs: set[int] = set()
        self._in_readers = 0
        self._fetching: set[asyncio.Task[None]] = set()
        self._inbox: deque[tuple[Claimed, object]] = deque()
        self._woken = asyncio.Event()
        self._arrived = asyncio.Event()
        self._lane = ""
        self._stopping = False
        self._queue_was_empty = True
        self._may_find_work = True
        self._claimed_at = deps.clock.now()

    def wake(self) -> None:
        """Claim again: there may be work."""
        self._may_find_work = True
        self._woken.set()

    def stop_claiming(self) -> None:
        """Finish the jobs that are leased and claim no more."""
        self._stopping = True
        self._woken.set()

    async def run(self, lane: str) -> datetime | None:
        """Run every claimable job; return when to claim again, or None to wait for a wake-up."""
        self._lane = lane
        self._capacity = min(self._capacity, self._lane_capacity.get(lane, self._capacity))
        working = [asyncio.create_task(self._write(writer), name="writer") for writer in self._writers]
        working.append(asyncio.create_task(self._run_stages(), name="stages"))
        claiming = asyncio.create_task(self._claims(lane), name="claims")
        try:
            await asyncio.wait((*working, claiming), return_when=asyncio.FIRST_COMPLETED)
            for task in working:
                if task.done():
                    task.result()
            return await claiming
        finally:
            leftovers: list[asyncio.Task[Any]] = [*working, claiming, *self._fetching]
            for task in leftovers:
                task.cancel()
            await asyncio.gather(*leftovers, return_exceptions=True)
            self._held_jobs.clear()
            self._inbox.clear()

    async def _claims(self, lane: str) -> datetime | None:
        """Claim until there is nothing left; if the database fails, finish the leased jobs before raising.

        A claim that failed may have taken jobs all the same. The caller releases them once no job is running.
        """
        try:
            return await self._claim_until_empty(lane)
        except StoreError:
            self._stopping = True
            while self._held_jobs:
                self._woken.clear()
                await self._woken.wait()
            raise

    async def _claim_until_empty(self, lane: str) -> datetime | None:
        while True:
            self._woken.clear()
            room = 0 if self._stopping else self._capacity - len(self._held_jobs)
            if self._may_find_work and (room >= self._capacity // 2 or (room and self._queue_was_empty)):
                self._may_find_work = False
                self._queue_was_empty = await self._claim(lane, room) < room
            if not self._held_jobs:
                if self._stopping:
                    return None
                if not self._may_find_work:
                    return await self._ledger.next_moment(self._claimed_at, self._lane)
            await self._wait_for_work()

    async def _claim(self, lane: str, room: int) -> int:
        """Claim up to `room` jobs and start them; return how many."""
        await self._ledger.reserve_keys(2 * room)
        self._claimed_at = self._deps.clock.now()
        claimed = await self._ledger.claim(lane, room, self._worker_id(), self._claimed_at)
        known = [each for each in claimed if each.job.vertical in self._deps.verticals]
        if len(known) < len(claimed):
            self._snooze_uninstalled([each for each in claimed if each.job.vertical not in self._deps.verticals])
        fresh = [each for each in known if each.job.stage is Stage.FETCH]
        self._held_jobs.update(each.job.id for each in fresh)
        for each in fresh:
            self._start(self._fetch(each))
        if resumed := [each for each in known if each.job.stage is not Stage.FETCH]:
            await self._resume(resumed)
        return len(claimed)

    def _snooze_uninstalled(self, claimed: Sequence[Claimed]) -> None:
        """Snooze jobs of verticals that are not installed here: another worker may have them."""
        self._held_jobs.update(each.job.id for each in claimed)
        until = self._deps.clock.now() + RECHECK_INSTALLED
        for each in claimed:
            wait = Snooze(until, f"no installed package brings the vertical {each.job.vertical!r}")
            self._queue_checkpoint(each, wait, snooze_job(each.job, wait))

    async def _wait_for_work(self) -> None:
        """Wait for a job to end or a wake-up; if the last claim found too few jobs, also for the next claimable one."""
        if not self._queue_was_empty or self._stopping:
            await self._woken.wait()
            return
        moment = await self._ledger.next_moment(self._claimed_at, self._lane)
        if moment is None:
            await self._woken.wait()
            return
        await wait_for_first(self._woken.wait(), self._deps.clock.sleep_until(moment))
        self._may_find_work = self._may_find_work or self._deps.clock.now() >= moment

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._fetching.add(task)
        task.add_done_callback(self._fetching.discard)

    async def _fetch(self, claimed: Claimed) -> None:
        try:
            outcome = await fetch(claimed, self._deps)
        except StoreLost as trouble:  # a gate could not ask the database, so nobody was asked
            outcome = Snooze(self._deps.clock.now() + AWAY, f"the database cannot be asked: {trouble}")
        except Exception as error:  # noqa: BLE001 - a bug in one fetch must not take the worker's other jobs along
            outcome = bug_failure(error)
        self._finish_stage(claimed, outcome)

    async def _resume(self, claimed: Sequence[Claimed]) -> None:
        resumed = await self._ledger.restore(claimed)
        self._held_jobs.update(each.job.id for each in claimed)
        for each in resumed:
            if each.stage_input is None:
                self._finish_stage(each.claimed, Fail(Failure.PAGE_LOST, "the stored page cannot be read back"))
            else:
                self._inbox.append((each.claimed, each.stage_input))
        self._arrived.set()

    def _finish_stage(self, claimed: Claimed, outcome: Outcome) -> None:
        """Turn a stage's outcome into a transition and pass it to the writer."""
        policy = self._deps.verticals[claimed.job.vertical].policy
        transition = transition_for(claimed.job, outcome, policy, self._deps.clock.now(), self._dice.random())
        self._queue_checkpoint(claimed, outcome, transition)

    def _queue_checkpoint(self, claimed: Claimed, outcome: Outcome, transition: JobTransition) -> None:
        self._writer_for(claimed.source.id).put(Checkpoint(claimed, outcome, transition))
        # this may be a fetch itself: no other is running
        if not self._inbox and not self._in_readers and len(self._fetching) <= 1:
            for writer in self._writers:
                writer.flush()

    def _writer_for(self, source_id: int) -> Writer:
        """Return the source's writer, always the same; sources are dealt out in turn: their keys may all be even."""
        dealt = self._writers[len(self._writer_of) % len(self._writers)]
        return self._writer_of.setdefault(source_id, dealt)

    async def _run_stages(self) -> None:
        """Run the stages that need no I/O, a few at a time."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._inbox:
                for _ in range(min(STAGES_PER_TURN, len(self._inbox))):
                    self._run_stage(*self._inbox.popleft())
                await yield_to_loop()

    def _run_stage(self, claimed: Claimed, stage_input: object) -> None:
        """Run one stage; what reads scraped text goes to the readers, and its outcome comes when they are done."""
        held = held_reading(claimed, self._deps.verticals) if isinstance(stage_input, Fetched) else None
        if held is not None:
            self._finish_stage(claimed, held)
        elif isinstance(stage_input, Fetched) and self._readers is not None:
            self._read(claimed, stage_input, self._readers)
        elif isinstance(stage_input, Parsed) and self._must_judge(stage_input):
            self._start(self._judge_and_finish(claimed, stage_input))
        else:
            self._finish_stage(claimed, run_stage(claimed, stage_input, self._deps))

    def _read(self, claimed: Claimed, fetched: Fetched, readers: PageReaders) -> None:
        deps = self._deps
        task = page_to_read(claimed, fetched, asks_model=deps.asks_model, most_records=deps.most_records)
        self._in_readers += 1

        def finish(result: ReadResult) -> None:
            self._in_readers -= 1
            self._finish_stage(claimed, parse_outcome(fetched, result))

        readers.submit(task, finish)

    def _must_judge(self, parsed: Parsed) -> bool:
        """Return whether a page's records are to be judged apart from their parsing.

        They are when the job is resumed, and when the database may have an answer to an open request.
        """
        if parsed.verdicts is None:
            return self._readers is not None or self._deps.enrichment is not None
        return self._deps.enrichment is not None and bool(open_request_keys(parsed))

    async def _judge_and_finish(self, claimed: Claimed, parsed: Parsed) -> None:
        judged: Parsed | Fail = parsed
        if parsed.verdicts is None:
            judged = await self._judge(claimed, parsed, {})
        if isinstance(judged, Parsed) and (answers := await self._known_answers(open_request_keys(judged))):
            judged = await self._judge(claimed, parsed, answers)
        outcome = judged if isinstance(judged, Fail) else run_stage(claimed, judged, self._deps)
        self._finish_stage(claimed, outcome)

    async def _judge(self, claimed: Claimed, parsed: Parsed, answers: Mapping[str, ModelAnswer]) -> Parsed | Fail:
        task = records_to_judge(claimed, parsed, answers, asks_model=self._deps.asks_model)
        if self._readers is None:
            return judged_anew(parsed, read_page(task, self._deps.verticals))
        return judged_anew(parsed, await result_of(self._readers, task))

    async def _known_answers(self, keys: Sequence[str]) -> dict[str, ModelAnswer]:
        enrichment = self._deps.enrichment
        if enrichment is None or not keys:
            return {}
        await enrichment.answers.load(keys)
        known = ((key, enrichment.answers.get(key)) for key in keys)
        return {key: answer for key, answer in known if answer is not None}

    async def _write(self, writer: Writer) -> None:
        """Commit group by group; a job that advances gets its next input from memory, not from the database.

        Later stages go first, so that while the last commits of some jobs run, others are still to be parsed.
        """
        while True:
            batch, committed = await writer.commit_next(busy=bool(self._inbox or self._in_readers or self._fetching))
            for checkpoint in batch:
                job = checkpoint.claimed.job
                outcome = checkpoint.outcome
                goes_on = isinstance(outcome, Advance) and not checkpoint.transition.ends and not self._one_stage
                if goes_on and job.id in committed.still_leased and isinstance(outcome, Advance):
                    put = self._inbox.append if job.stage is Stage.FETCH else self._inbox.appendleft
                    put((after_checkpoint(checkpoint), outcome.produced))
                else:
                    self._held_jobs.discard(job.id)
                    if job.deaths >= SUSPECT_AFTER:
                        self.wake()  # nothing was taken beside it, so the next one may be waiting
            if self._inbox:
                self._arrived.set()
            fetched = [each for each in batch if each.claimed.job.stage is Stage.FETCH]
            if committed.followed or not self._queue_was_empty or any(self._host_is_free(each) for each in fetched):
                self.wake()
            elif fetched or not self._held_jobs:
                self._woken.set()  # nothing to claim yet, but the moment of the next claim may have moved

    def _host_is_free(self, checkpoint: Checkpoint) -> bool:
        """Return whether the host of a finished fetch may be asked at once; if not, the ledger knows when."""
        pace, outcome = checkpoint.claimed.pace, checkpoint.outcome
        if not pace.interval or pace.burst > 1:
            return True
        if isinstance(outcome, Snooze):
            return False
        output = outcome.evidence if isinstance(outcome, Fail) else outcome.produced
        asked_at = output.result.requested_at if isinstance(output, Fetched | Unchanged) else None
        return asked_at is None or asked_at + pace.interval <= self._deps.clock.now()


def run_stage(claimed: Claimed, stage_input: object, deps: StageDependencies) -> Outcome:
    """Run the stage that takes this input; a crash is this job's failure only."""
    try:
        match stage_input:
            case Fetched():
                return parse(claimed, stage_input, deps)
            case Parsed():
                return normalize(claimed, stage_input, deps)
            case Judged():
                return persist(claimed, stage_input, deps)
            case _:
                return Fail(Failure.BUG, f"no stage works on {type(stage_input).__name__}")
    except Exception as error:  # noqa: BLE001 - stages are isolated from each other
        return bug_failure(error)


async def result_of(readers: PageReaders, task: PageTask) -> ReadResult:
    """Wait for the result of one task."""
    result: asyncio.Future[ReadResult] = asyncio.get_running_loop().create_future()
    readers.submit(task, lambda given: None if result.done() else result.set_result(given))
    return await result


def after_checkpoint(checkpoint: Checkpoint) -> Claimed:
    """Return the claimed job in its state after a checkpoint."""
    claimed, transition = checkpoint.claimed, checkpoint.transition
    job = claimed.job
    page_id = checkpoint.outcome.produced.page.id if isinstance(checkpoint.outcome, Advance) else job.page_id
    moved = msgspec.structs.replace(job, stage=transition.stage, attempts=transition.attempts, page_id=page_id)
    return msgspec.structs.replace(claimed, job=moved)


async def yield_to_loop() -> None:
    """Let the event loop serve its sockets before the next stages."""
    await asyncio.sleep(0)  # noqa: TID251 - yields, waits for no time


async def wait_for_first(*waits: Awaitable[object]) -> None:
    """Wait until the first of these is done, and cancel the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
