"""Drain: claim jobs, carry them through their stages, and write each step down with many others."""

import asyncio
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.job import Move, move, put_off
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze, Stage
from tidemill.engine.narrator import Narrator
from tidemill.engine.ports import JobLedger
from tidemill.engine.writer import Writer
from tidemill.pipeline.checkpoints import Checkpoint, Claimed, Fetched, Judged, Parsed, Unchanged
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.fetch import fetch
from tidemill.pipeline.hints import lost_keys
from tidemill.pipeline.normalize import normalize
from tidemill.pipeline.parse import parse
from tidemill.pipeline.persist import persist
from tidemill.pipeline.ports import Dice, StoreError, StoreLost

CAPACITY = 600
"""Jobs in hand at once: enough for a group being committed, one being read and one on the wire."""
NOT_INSTALLED = timedelta(hours=1)
"""How long a job waits before a worker looks again whether its vertical is installed."""
AWAY = timedelta(seconds=30)
"""How long a job waits whose gates could not be asked because the database was away."""
LARGE_PAGE = 300_000
"""Bytes from which a page is parsed in a thread, so that it holds up nobody."""
STAGES_PER_TURN = 4
"""Stages run in a row before the event loop gets a turn, in which commits and sockets are served."""


class Drain:
    """One worker on one lane: everything claimable is carried as far as it goes."""

    def __init__(
        self,
        ledger: JobLedger,
        tools: StageDependencies,
        dice: Dice,
        narrator: Narrator,
        *,
        worker_id: Callable[[], int],
        capacity: int = CAPACITY,
        narrow: Mapping[str, int] | None = None,
        commits: int = 1,
    ) -> None:
        """`worker_id` is asked at each claim: a worker that was given up comes back under a new key.

        `commits` is how many groups the database can commit at once. All jobs of a source are written by one writer, so
        that two groups never wait for each other's rows.
        `narrow` names lanes that carry fewer jobs than `capacity`: what waits for a browser is better left to others.
        """
        self._ledger = ledger
        self._tools = tools
        self._dice = dice
        self._worker_id = worker_id
        self._capacity = capacity
        self._narrow = narrow or {}
        policies = {name: vertical.policy for name, vertical in tools.verticals.items()}
        self._writers = [Writer(ledger, tools.clock, narrator, policies) for _ in range(commits)]
        self._writer_of: dict[int, Writer] = {}
        self._in_hand: set[int] = set()
        self._fetching: set[asyncio.Task[None]] = set()
        self._inbox: deque[tuple[Claimed, object]] = deque()
        self._stirred = asyncio.Event()
        self._arrived = asyncio.Event()
        self._lane = ""
        self._stopping = False
        self._was_dry = True
        self._is_hopeful = True
        self._looked_at = tools.clock.now()

    def stir(self) -> None:
        """There may be work: look again."""
        self._is_hopeful = True
        self._stirred.set()

    def stop_claiming(self) -> None:
        """Finish what is in hand, take nothing new."""
        self._stopping = True
        self._stirred.set()

    async def run(self, lane: str) -> datetime | None:
        """Carry everything claimable through; answers when to look again, or None if a wake-up will tell."""
        self._lane = lane
        self._capacity = min(self._capacity, self._narrow.get(lane, self._capacity))
        working = [asyncio.create_task(self._write(writer), name="writer") for writer in self._writers]
        working.append(asyncio.create_task(self._work(), name="stages"))
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
            self._in_hand.clear()
            self._inbox.clear()

    async def _claims(self, lane: str) -> datetime | None:
        """Claim until there is nothing left; if the database fails us, finish what is in hand before saying so.

        A claim that failed may have taken jobs all the same. Whoever runs us hands them back, once our hands are empty.
        """
        try:
            return await self._claim_until_dry(lane)
        except StoreError:
            self._stopping = True
            while self._in_hand:
                self._stirred.clear()
                await self._stirred.wait()
            raise

    async def _claim_until_dry(self, lane: str) -> datetime | None:
        while True:
            self._stirred.clear()
            room = 0 if self._stopping else self._capacity - len(self._in_hand)
            if self._is_hopeful and (room >= self._capacity // 2 or (room and self._was_dry)):
                self._is_hopeful = False
                self._was_dry = await self._take(lane, room) < room
            if not self._in_hand:
                if self._stopping:
                    return None
                if not self._is_hopeful:
                    return await self._ledger.next_moment(self._looked_at, self._lane)
            await self._until_stirred()

    async def _take(self, lane: str, room: int) -> int:
        """Claim up to `room` jobs and set them going."""
        await self._ledger.reserve_keys(2 * room)
        self._looked_at = self._tools.clock.now()
        claimed = await self._ledger.claim(lane, room, self._worker_id(), self._looked_at)
        known = [each for each in claimed if each.job.vertical in self._tools.verticals]
        if len(known) < len(claimed):
            self._put_off([each for each in claimed if each.job.vertical not in self._tools.verticals])
        fresh = [each for each in known if each.job.stage is Stage.FETCH]
        self._in_hand.update(each.job.id for each in fresh)
        for each in fresh:
            self._start(self._fetch(each))
        if resumed := [each for each in known if each.job.stage is not Stage.FETCH]:
            await self._resume(resumed)
        return len(claimed)

    def _put_off(self, claimed: Sequence[Claimed]) -> None:
        """Let the jobs of verticals wait whose package is not installed here: another worker may have it."""
        self._in_hand.update(each.job.id for each in claimed)
        until = self._tools.clock.now() + NOT_INSTALLED
        for each in claimed:
            wait = Snooze(until, f"no installed package brings the vertical {each.job.vertical!r}")
            self._hand_over(each, wait, put_off(each.job, wait))

    async def _until_stirred(self) -> None:
        """Wait for a job to end or for a wake-up; when the last claim ran dry, also for the next host to open."""
        if not self._was_dry or self._stopping:
            await self._stirred.wait()
            return
        moment = await self._ledger.next_moment(self._looked_at, self._lane)
        if moment is None:
            await self._stirred.wait()
            return
        await first_of(self._stirred.wait(), self._tools.clock.sleep_until(moment))
        self._is_hopeful = self._is_hopeful or self._tools.clock.now() >= moment

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._fetching.add(task)
        task.add_done_callback(self._fetching.discard)

    async def _fetch(self, claimed: Claimed) -> None:
        try:
            outcome = await fetch(claimed, self._tools)
        except StoreLost as trouble:  # a gate could not ask the database, so nobody was asked
            outcome = Snooze(self._tools.clock.now() + AWAY, f"the database cannot be asked: {trouble}")
        except Exception as error:  # noqa: BLE001 - a bug in one fetch must not take the worker's other jobs along
            outcome = crashed(error)
        self._answer(claimed, outcome)

    async def _resume(self, claimed: Sequence[Claimed]) -> None:
        restored = await self._ledger.restore(claimed)
        self._in_hand.update(each.job.id for each in claimed)
        for each in restored:
            if each.material is None:
                self._answer(each.claimed, Fail(Failure.PAGE_LOST, "the stored page cannot be read back"))
            else:
                self._inbox.append((each.claimed, each.material))
        self._arrived.set()

    def _answer(self, claimed: Claimed, outcome: Outcome) -> None:
        """Turn a stage's answer into a move and hand it to the writer."""
        policy = self._tools.verticals[claimed.job.vertical].policy
        step = move(claimed.job, outcome, policy, self._tools.clock.now(), self._dice.random())
        self._hand_over(claimed, outcome, step)

    def _hand_over(self, claimed: Claimed, outcome: Outcome, step: Move) -> None:
        self._writer_for(claimed.source.id).put(Checkpoint(claimed, outcome, step))
        if not self._inbox and len(self._fetching) <= 1:  # this may be a fetch itself: nobody else is coming
            for writer in self._writers:
                writer.hurry()

    def _writer_for(self, source_id: int) -> Writer:
        """Always the same for a source; sources are dealt out in turn, for their keys may all be even."""
        dealt = self._writers[len(self._writer_of) % len(self._writers)]
        return self._writer_of.setdefault(source_id, dealt)

    async def _work(self) -> None:
        """Run the stages that need nobody else, a few at a time."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._inbox:
                for _ in range(min(STAGES_PER_TURN, len(self._inbox))):
                    claimed, material = self._inbox.popleft()
                    if isinstance(material, Fetched) and len(material.page.body) > LARGE_PAGE:
                        self._start(self._parse_aside(claimed, material))
                    else:
                        self._answer_or_recall(claimed, material, run_stage(claimed, material, self._tools))
                await yield_to_loop()

    def _answer_or_recall(self, claimed: Claimed, material: object, outcome: Outcome) -> None:
        """Answer at once, unless a question is open that the database may know the answer to."""
        keys = lost_keys(outcome) if self._tools.aid is not None and isinstance(material, Parsed) else []
        if keys:
            self._start(self._recall(claimed, material, outcome, keys))
        else:
            self._answer(claimed, outcome)

    async def _recall(self, claimed: Claimed, material: object, outcome: Outcome, keys: Sequence[str]) -> None:
        if self._tools.aid is not None and await self._tools.aid.hints.recall(keys):
            outcome = run_stage(claimed, material, self._tools)
        self._answer(claimed, outcome)

    async def _parse_aside(self, claimed: Claimed, material: Fetched) -> None:
        loop = asyncio.get_running_loop()
        outcome = await loop.run_in_executor(None, run_stage, claimed, material, self._tools)
        self._answer(claimed, outcome)

    async def _write(self, writer: Writer) -> None:
        """Commit group by group; what went on gets its next stage from memory, not from the database.

        What is furthest goes first: while the last commits of some jobs run, others are still to be read.
        """
        while True:
            batch, committed = await writer.commit_next(busy=bool(self._inbox or self._fetching))
            for checkpoint in batch:
                job = checkpoint.claimed.job
                outcome = checkpoint.outcome
                if job.id in committed.held and isinstance(outcome, Advance) and not checkpoint.move.ends:
                    put = self._inbox.append if job.stage is Stage.FETCH else self._inbox.appendleft
                    put((moved_on(checkpoint), outcome.produced))
                else:
                    self._in_hand.discard(job.id)
            if self._inbox:
                self._arrived.set()
            fetched = [each for each in batch if each.claimed.job.stage is Stage.FETCH]
            if committed.followed or not self._was_dry or any(self._frees_its_host(each) for each in fetched):
                self.stir()
            elif fetched or not self._in_hand:
                self._stirred.set()  # nothing to claim yet, but the moment to look again may have moved

    def _frees_its_host(self, checkpoint: Checkpoint) -> bool:
        """Whether the host of a fetch that has ended may be asked at once; if not, the ledger knows its moment."""
        pace, outcome = checkpoint.claimed.pace, checkpoint.outcome
        if not pace.interval or pace.burst > 1:
            return True
        if isinstance(outcome, Snooze):
            return False
        got = outcome.evidence if isinstance(outcome, Fail) else outcome.produced
        asked_at = got.result.requested_at if isinstance(got, Fetched | Unchanged) else None
        return asked_at is None or asked_at + pace.interval <= self._tools.clock.now()


def run_stage(claimed: Claimed, material: object, tools: StageDependencies) -> Outcome:
    """Run the stage that the material is for; a crash is this job's failure and nobody else's."""
    try:
        match material:
            case Fetched():
                return parse(claimed, material, tools)
            case Parsed():
                return normalize(claimed, material, tools)
            case Judged():
                return persist(claimed, material, tools)
            case _:
                return Fail(Failure.BUG, f"no stage works on {type(material).__name__}")
    except Exception as error:  # noqa: BLE001 - stages are isolated from each other
        return crashed(error)


def crashed(error: Exception) -> Fail:
    """A bug of ours, kept with its stack."""
    return Fail(Failure.BUG, f"{type(error).__name__}: {error}"[:500], stack=traceback.format_exc())


def moved_on(checkpoint: Checkpoint) -> Claimed:
    """The job as it stands after its checkpoint."""
    claimed, step = checkpoint.claimed, checkpoint.move
    job = claimed.job
    page_id = checkpoint.outcome.produced.page.id if isinstance(checkpoint.outcome, Advance) else job.page_id
    moved = msgspec.structs.replace(job, stage=step.stage, attempts=step.attempts, page_id=page_id)
    return msgspec.structs.replace(claimed, job=moved)


async def yield_to_loop() -> None:
    """Let the event loop serve its sockets before the next stages."""
    await asyncio.sleep(0)  # noqa: TID251 - gives way, waits for no time


async def first_of(*waits: Awaitable[object]) -> None:
    """Return when the first of these has come about; the others are let go."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
