"""The supervisor: runs heartbeats, chores and drains until it is stopped."""

import asyncio
import os
import socket
import traceback
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from tidemill.engine.clock import CHECKED_EVERY, MADE_UP, ClockJump, ClockSkew
from tidemill.engine.drain import Drain, wait_for_first
from tidemill.engine.periodic import Chore, ChoreRunner
from tidemill.engine.ports import MachineClock, WorkerRegistry
from tidemill.pipeline.happenings import Announce, ClockJumped, PartCrashed, StoreTrouble
from tidemill.pipeline.live_ports import LIVE_LANE
from tidemill.pipeline.ports import Clock, StoreError

POLL_INTERVAL = timedelta(seconds=30)
TROUBLE_PAUSE = timedelta(seconds=5)
COMES_BACK = timedelta(seconds=20)
"""Within this a worker is seen again once its database is back: a try to connect takes up to 10 s, then a pause."""

COMPARED_EVERY = timedelta(minutes=1)
"""How often the machine's clock is compared with the database's."""

DONE_HERE = frozenset({"ok", "failed"})
"""What a runner answers of a chore that nobody else had done."""

HearWakeups = Callable[[Callable[[str], None]], Awaitable[None]]
MeasureSkew = Callable[[], Awaitable[ClockSkew]]
Prepare = Callable[[datetime], Awaitable[object]]


def default_name() -> str:
    """Return what a process is called that nobody has named: its machine and its number."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Worker:
    """This process's registration as a worker, which it may have to renew."""

    def __init__(
        self,
        register: WorkerRegistry,
        clock: Clock,
        name: str | None = None,
        *,
        prepare: Prepare | None = None,
        lanes: Sequence[str] = (),
    ) -> None:
        """Not registered yet; `prepare` runs before this worker claims anything. It takes jobs of `lanes`."""
        self._prepare = prepare
        self._lanes = lanes
        self._register = register
        self._clock = clock
        self._name = name or default_name()
        self._key: int | None = None
        self._seen_at: datetime | None = None
        self._beating = asyncio.Lock()
        self._is_cut_off = False
        self._spares_until: datetime | None = None
        self._skew: timedelta | None = None

    def key(self) -> int:
        """Return the worker's key; raise `RuntimeError` before `sign_in`."""
        if self._key is None:
            msg = "the worker has not signed in"
            raise RuntimeError(msg)
        return self._key

    def is_current(self, key: int) -> bool:
        """Return whether jobs claimed under `key` can still be leased to this process.

        A process that was frozen for longer than its lease cannot know, so it must not act on its jobs until it
        has sent a heartbeat. Where no heartbeat runs, the key alone decides.
        """
        return key == self._key and not self._is_silent()

    def may_rescue(self) -> bool:
        """Whether a worker unseen for a lease must be dead.

        While the database was away nobody could be seen. Those who have pages in hand get a lease's time to be seen
        again; if their jobs were freed at once, every one of those pages would be fetched anew.
        """
        is_sparing = self._spares_until is not None and self._clock.now() < self._spares_until
        return not (self._is_cut_off or is_sparing)

    def spare_others(self) -> None:
        """Give every worker the time to be seen again before it counts as dead."""
        self._spares_until = self._clock.now() + max(self._register.lease, COMES_BACK)

    def clock_compared(self, skew: ClockSkew) -> None:
        """Tell with the next heartbeats how far our clock is off the database's."""
        self._skew = skew.certain

    def _is_silent(self) -> bool:
        return self._seen_at is not None and self._clock.now() - self._seen_at >= self._register.lease

    def clock_jumped(self, jump: ClockJump) -> None:
        """Our own time has moved without passing: what was seen is no longer ago than before, for us and for others."""
        if self._seen_at is not None:
            self._seen_at += jump.followed
        self.spare_others()

    async def last_seen(self) -> datetime | None:
        """When any worker was last seen on this database."""
        return await self._register.last_seen()

    async def sign_in(self) -> None:
        """Run `prepare` and register under a new key."""
        if self._prepare is not None:
            await self._prepare(self._clock.now())
        self._key = await self._register.register(self._name, os.getpid(), self._clock.now(), self._lanes)

    async def keep_alive(self) -> None:
        """Send heartbeats; after trouble with the database, one at once when it is there again."""
        try:
            if self._is_cut_off:
                await self._be_seen()
            self._seen_at = self._clock.now()
            while True:
                await self._clock.sleep_until(self._seen_at + self._register.heartbeat)
                await self._be_seen()
        except asyncio.CancelledError:
            self._seen_at = None
            raise

    async def _be_seen(self) -> None:
        """Send one heartbeat; a worker that was given up (it was frozen) registers under a new key."""
        async with self._beating:
            began = self._clock.now()
            try:
                if not await self._register.beat(self.key(), self._clock.now(), self._skew):
                    await self.sign_in()
            except Exception:
                self._is_cut_off = True
                raise
            if self._is_cut_off or self._clock.now() - began >= self._register.lease:
                self.spare_others()
            self._is_cut_off = False
            self._seen_at = self._clock.now()

    async def sign_off(self) -> int:
        """Release the worker's jobs and return how many."""
        return await self._register.sign_off(self.key(), self._clock.now())

    async def release_lane(self, lane: str) -> None:
        """Send a heartbeat and release whatever jobs the database thinks this lane holds; other lanes keep theirs."""
        await self._be_seen()
        await self._register.release_lane(self.key(), lane)


class LaneRunner(Protocol):
    """Runs one lane: a drain, or the live lane."""

    def wake(self) -> None:
        """Look for work now."""
        ...

    def stop_claiming(self) -> None:
        """Take no more work, and end soon."""
        ...

    async def run(self, lane: str) -> datetime | None:
        """Run until there is nothing to do; return when there may be, None if a wake-up tells."""
        ...


class Supervisor:
    """Runs one worker process: one drain per lane, all chores, one heartbeat."""

    def __init__(
        self,
        worker: Worker,
        runner: ChoreRunner,
        make_drain: Callable[[], Drain],
        lanes: Sequence[str],
        clock: Clock,
        announce: Announce,
        *,
        poll_interval: timedelta = POLL_INTERVAL,
        machine: MachineClock | None = None,
        live: LaneRunner | None = None,
        chores_after: timedelta = timedelta(0),
        has_chores: bool = True,
        measure_skew: MeasureSkew | None = None,
        hear_wakeups: HearWakeups | None = None,
        on_unsent_chore: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`make_drain` builds a new drain per lane; a lane that is not woken polls after `poll_interval`.

        `live` runs the live lane, where something is watched live; it is the same one each time.

        `machine` is the clock, if it goes by one that somebody may set. Where somebody else starts the chores, this
        one does a slot that is still free after `chores_after`; without `has_chores` it does none. A process whose
        clock differs too much from the database's takes nothing on until it is right. `hear_wakeups` listens for what
        other processes say of lanes with work. `on_unsent_chore` is told of each that nobody else had started.
        """
        self._worker = worker
        self._runner = runner
        self._make_drain = make_drain
        self._live = live
        self._lanes = tuple(lanes) if live is None else (*lanes, LIVE_LANE)
        self._chores_after = chores_after
        self._clock = clock
        self._announce = announce
        self._poll_interval = poll_interval
        self._machine = machine
        self._has_chores = has_chores
        self._measure_skew = measure_skew
        self._hear_wakeups = hear_wakeups
        self._on_unsent_chore = on_unsent_chore
        self._is_skewed = False
        self._drains: dict[str, LaneRunner] = {}
        self._wake_events: dict[str, asyncio.Event] = {lane: asyncio.Event() for lane in self._lanes}
        self._stopping = asyncio.Event()

    @property
    def lanes(self) -> Sequence[str]:
        """The lanes that this process runs."""
        return self._lanes

    def wake(self, workers: int) -> None:
        """Wake every lane of this process if there is work (the embedded `Waker`)."""
        if workers:
            for lane in self._lanes:
                self.wake_lane(lane)

    def wake_lane(self, lane: str) -> None:
        """Have one lane look for work now; a lane that this process does not run is somebody else's."""
        if lane in self._wake_events:
            self._wake_events[lane].set()
            if lane in self._drains:
                self._drains[lane].wake()

    def _heard(self, lanes: str) -> None:
        """Wake the lanes that another process named; all of them, where nobody knows what was said before."""
        for lane in lanes.split() or self._lanes:
            self.wake_lane(lane)

    def stop(self) -> None:
        """Finish the jobs that are leased, then stop."""
        self._stopping.set()
        for drain in self._drains.values():
            drain.stop_claiming()
        for event in self._wake_events.values():
            event.set()

    async def run(self) -> None:
        """Run until stopped; cancelling stops at once. Either way the jobs are released."""
        if not self._lanes and not self._has_chores:
            await self._stopping.wait()
            return
        await self._begin_in_time()
        await self._worker.sign_in()
        parts: dict[str, Callable[[], Awaitable[None]]] = {"heartbeat": self._worker.keep_alive}
        if self._machine is not None:
            parts["clock"] = partial(self._watch_clock, self._machine)
        if self._measure_skew is not None:
            parts["clock of the database"] = partial(self._compare_clocks, self._measure_skew)
        if self._hear_wakeups is not None and self._lanes:
            parts["wake-ups"] = partial(self._hear_wakeups, self._heard)
        if self._has_chores:
            parts |= {f"tick {name}": partial(self._run_chore, chore) for name, chore in self._runner.chores.items()}
        background = [
            asyncio.create_task(self._restart_on_error(name, work), name=name) for name, work in parts.items()
        ]
        lanes = [asyncio.create_task(self._lane(lane), name=f"lane {lane}") for lane in self._lanes]
        try:
            await asyncio.gather(*lanes)
            await self._stopping.wait()
        finally:
            for task in (*background, *lanes):
                task.cancel()
            await asyncio.gather(*background, *lanes, return_exceptions=True)
            await self._sign_off()

    async def _begin_in_time(self) -> None:
        """Begin no earlier than what is on record: a clock that was set back meanwhile would stop all work."""
        if self._machine is not None and (moment := await self._worker.last_seen()) is not None:
            self._tell_of(self._machine.catch_up(moment))

    async def _watch_clock(self, machine: MachineClock) -> None:
        """Notice when somebody sets the machine's clock."""
        while True:
            await self._clock.sleep_until(self._clock.now() + CHECKED_EVERY)
            self._tell_of(machine.compare())

    async def _compare_clocks(self, measure: MeasureSkew) -> None:
        """Take nothing on while this machine's clock and the database's differ by too much."""
        while True:
            skew = await measure()
            self._worker.clock_compared(skew)
            if skew.fault and not self._is_skewed:
                self._announce(ClockJumped(self._clock.now(), round(skew.seconds, 1), skew.fault))
                for drain in self._drains.values():
                    drain.stop_claiming()
            self._is_skewed = bool(skew.fault)
            await self._clock.sleep_until(self._clock.now() + COMPARED_EVERY)

    def _tell_of(self, jump: ClockJump | None) -> None:
        if jump is not None:
            self._worker.clock_jumped(jump)
            self._announce(ClockJumped(self._clock.now(), round(jump.by.total_seconds(), 1), words_for(jump)))

    async def _sign_off(self) -> None:
        """Release the worker's jobs; if the database is unavailable, the lease expires by itself."""
        try:
            await self._worker.sign_off()
        except StoreError as trouble:
            self._announce(StoreTrouble(self._clock.now(), str(trouble)))

    async def _lane(self, lane: str) -> None:
        """Drain, sleep until the next claimable moment or a wake-up, and repeat; release the lane after an error."""
        must_release = False
        while not self._stopping.is_set():
            self._wake_events[lane].clear()
            if self._is_skewed:
                await self._wait_until(lane, self._clock.now() + TROUBLE_PAUSE)
                continue
            drain = self._drains[lane] = self._runner_of(lane)
            try:
                if must_release:
                    await self._worker.release_lane(lane)
                must_release = False
                moment = await drain.run(lane)
            except StoreError as trouble:
                must_release = True
                self._announce(StoreTrouble(self._clock.now(), str(trouble)))
                moment = self._clock.now() + TROUBLE_PAUSE
            except Exception as bug:  # noqa: BLE001 - the worker goes on; the jobs it held are released
                must_release = True
                self._announce(crash_of(f"lane {lane}", bug, self._clock.now()))
                moment = self._clock.now() + TROUBLE_PAUSE
            if self._stopping.is_set():
                return
            await self._wait_until(lane, moment)

    def _runner_of(self, lane: str) -> LaneRunner:
        return self._live if self._live is not None and lane == LIVE_LANE else self._make_drain()

    async def _wait_until(self, lane: str, moment: datetime | None) -> None:
        latest = self._clock.now() + self._poll_interval
        moment = latest if moment is None else min(latest, moment)
        await wait_for_first(self._wake_events[lane].wait(), self._clock.sleep_until(moment))

    async def _run_chore(self, chore: Chore) -> None:
        """Run a chore in each of its time slots, the current one included."""
        late = min(self._chores_after, chore.period / 2)
        if late:
            await self._clock.sleep_until(self._clock.now() + late)
        while True:
            answer = await self._runner.tick(chore.name)
            if late and answer in DONE_HERE and self._on_unsent_chore is not None:
                await self._on_unsent_chore()
            await self._clock.sleep_until(chore.after(self._clock.now()) + late)

    async def _restart_on_error(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Restart a background task after a lost database or a bug, and announce each."""
        while True:
            try:
                await work()
            except StoreError as trouble:
                self._announce(StoreTrouble(self._clock.now(), str(trouble)))
            except Exception as bug:  # noqa: BLE001 - a heartbeat that dies in silence takes the worker with it
                self._announce(crash_of(name, bug, self._clock.now()))
            await self._clock.sleep_until(self._clock.now() + TROUBLE_PAUSE)


def words_for(jump: ClockJump) -> str:
    """What a jump of the machine's clock means for the work."""
    if jump.by > timedelta(0):
        return "the clock was set forward; the new time counts from now on, and no worker is given up for it"
    if -jump.by > MADE_UP:
        return "the clock was set back by more than a day; what waits for a moment may wait that much longer"
    return "the clock stands before what is on record; time goes on at half speed until it has caught up"


def crash_of(part: str, bug: Exception, now: datetime) -> PartCrashed:
    """Return the event of a crash: where, what, and the last frames of its stack."""
    steps = "".join(traceback.format_exception(bug, limit=-4))
    return PartCrashed(now, part, f"{type(bug).__name__}: {bug}\n{steps}"[:4_000])
