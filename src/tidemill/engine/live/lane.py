"""The live lane of one process: it claims watches, polls their pages, and hands them over when it ends."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

from tidemill.core.health.contexts import ScraperContext, restart_reason
from tidemill.core.health.recovery import RecoveryAction, RecoveryRequest
from tidemill.core.live.change import Fence
from tidemill.core.live.lifecycle import Lifecycle, after_list, after_time
from tidemill.core.live.polling import LiveUrgency
from tidemill.core.live.rules import ListReading
from tidemill.core.live.status import LaneStatus
from tidemill.core.run import RunSummary
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import fetcher_for
from tidemill.engine.live.host_line import HostLine
from tidemill.engine.live.lease import LaneLease
from tidemill.engine.live.options import LaneOptions
from tidemill.engine.live.poller import LiveTroubles, Poller, wake_pages
from tidemill.engine.live.spill import ChangeBuffer, left_behind
from tidemill.engine.live.states import READ_EVERY, PolledStates
from tidemill.engine.live.watch import PolledPage, Watch
from tidemill.engine.live.writer import LiveWriter
from tidemill.pipeline.dependencies import CurrentState, StageDependencies
from tidemill.pipeline.fetch import adapter_of
from tidemill.pipeline.happenings import (
    Announce,
    BreakerMoved,
    LifeMoved,
    PartCrashed,
    RunOpened,
    StoreTrouble,
    WatchLost,
    happenings_at_run_end,
)
from tidemill.pipeline.health_ports import PUBLISHED_EVERY, HealthSink, LaneReport
from tidemill.pipeline.live_ports import LOOKS_EVERY, ClaimedWatch, EndedWatch, WatchCounts, WatchedPage, WatchLedger
from tidemill.pipeline.ports import Clock, Dice, StoreError, StoreLost

NOTED_EVERY = timedelta(seconds=15)
"""How often it is written when pages were checked."""
SHORTEST_TURN = timedelta(milliseconds=20)
LONGEST_TURN = timedelta(milliseconds=250)
"""Between these the lane looks which pages are due: soon while some wait, and not too late to hear of a change."""
DRAINED_WITHIN = timedelta(seconds=2)
FINISHED_WITHIN = timedelta(seconds=1)
"""When the lane ends: how long writing may take, and polls under way; then watches are handed on."""
RESTS_AFTER = timedelta(seconds=30)
"""How often a lane without watches asks whether there is anything to watch at all."""
REFUSED_FOR = timedelta(seconds=30)
ENDED_AT_ONCE = 200


class HostSlots(Protocol):
    """Where slots of hosts are bought in advance."""

    sharers: int

    def want(self, host: str, count: int) -> None:
        """Say how many requests will be wanted soon."""
        ...

    async def give_back_unused(self) -> int:
        """Return what nobody wants any more."""
        ...


class RunClosing(Protocol):
    """Closes runs whose jobs have all ended."""

    async def close_runs(self, run_ids: Sequence[int], now: datetime) -> Sequence[RunSummary]:
        """Close them; return the summaries."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneDependencies:
    """What the live lane is built on.

    `stages` are what polls fetch with: its `source_states` are `states`, and its fetchers are those of every other
    lane, so that there is one way out. `free_memory` returns the bytes that are free, None where nobody knows.
    """

    ledger: WatchLedger
    stages: StageDependencies
    states: PolledStates
    dice: Dice
    announce: Announce
    health: HealthSink
    slots: HostSlots
    runs: RunClosing
    lease: LaneLease
    options: LaneOptions = field(default_factory=LaneOptions)
    free_memory: Callable[[], int | None] = lambda: None

    @property
    def clock(self) -> Clock:
        """The time."""
        return self.stages.clock


class LaneRestart(Exception):
    """The lane is to be started anew."""


class LiveLane:
    """Watches things: one instance per process, run again after whatever ended it."""

    def __init__(self, deps: LaneDependencies, name: str) -> None:
        """`name` tells this process from others, in the name of its file."""
        self._deps = deps
        self._clock = deps.clock
        self._options = deps.options
        self._name = name
        self._watches: dict[int, Watch] = {}
        self._lines: dict[str, HostLine] = {}
        self._troubles = LiveTroubles()
        self._polling: set[asyncio.Task[None]] = set()
        self._side: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._look_now = asyncio.Event()
        self._refused = 0
        self._make_writer()
        deps.lease.verify = self._drop_lost
        deps.lease.on_beat = self._count_lanes

    def _make_writer(self) -> None:
        options = self._options
        buffer = ChangeBuffer(options.most_waiting, options.most_waiting_bytes, options.buffer_folder, self._name)
        self._writer = LiveWriter(self._deps.ledger, self._clock, self._deps.announce, buffer, self._lose)
        self._poller = Poller(
            self._deps.stages, options, self._deps.dice, self._writer, self._troubles, self._deps.health,
            self._deps.announce, self._take_list,
        )  # fmt: skip

    def _count_lanes(self, lanes: int) -> None:
        self._deps.slots.sharers = lanes

    def wake(self) -> None:
        """Look for watches now."""
        self._look_now.set()

    def stop_claiming(self) -> None:
        """Hand all watches over, and end."""
        self._stopping.set()

    @property
    def watches(self) -> Sequence[Watch]:
        """What this process watches."""
        return list(self._watches.values())

    def contexts(self) -> list[ScraperContext]:
        """Return every page that is polled, as a scraper context."""
        now = self._clock.now()
        return [page.context(now) for page in self._pages()]

    def status(self) -> LaneStatus:
        """Return how the lane stands."""
        now = self._clock.now()
        return LaneStatus(
            pages=tuple(page.status(now) for page in self._pages()),
            waiting_changes=len(self._writer.buffer),
            waiting_bytes=self._writer.buffer.waiting_bytes,
            is_spilling=self._writer.buffer.is_spilling,
            refused_watches=self._refused,
            store_away_since=self._writer.away_since,
        )

    async def run(self, lane: str) -> datetime | None:
        """Watch until stopped, or until there is nothing to watch; then None, and the lane is run again later.

        Whatever ends it, polls are ended and watches handed back as far as possible.
        """
        del lane
        if not await self._deps.ledger.has_any():
            return None
        self._deps.lease.begin()
        self._is_idle.clear()
        parts: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "beat": self._deps.lease.keep,
            "writer": self._writer.run,
            "poll": self._poll_due,
            "look": self._every(LOOKS_EVERY, self._look, self._look_now),
            "states": self._every(READ_EVERY, self._refresh_states),
            "note": self._every(NOTED_EVERY, self._note),
            "publish": self._every(PUBLISHED_EVERY, self._publish),
            "rest": self._every(RESTS_AFTER, self._rest),
            "troubles": self._every(timedelta(seconds=1), self._tell_troubles),
        }
        await self._recover()
        tasks = [asyncio.create_task(work(), name=f"live {name}") for name, work in parts.items()]
        ends = [asyncio.create_task(event.wait(), name="live end") for event in (self._stopping, self._is_idle)]
        try:
            done, _ = await asyncio.wait((*tasks, *ends), return_when=asyncio.FIRST_COMPLETED)
            for task in done & set(tasks):
                task.result()
            await self._finish_polls()
            await self._writer.drain(self._clock.now() + DRAINED_WITHIN)
        finally:
            await _cancelled((*tasks, *ends, *self._polling, *self._side))
            await self._hand_over()
        return None

    # Polling

    async def _poll_due(self) -> None:
        """Start the polls that are due, for ever."""
        while True:
            now = self._clock.now()
            if self._deps.lease.is_held():
                for line in self._lines.values():
                    self._start(line, now)
            await self._clock.sleep_until(self._next_turn(now))

    def _start(self, line: HostLine, now: datetime) -> None:
        chosen = line.take(now)
        if line.pages and line.pace.interval:
            self._deps.slots.want(line.host, line.in_flight + len(line.waiting))
        for page in chosen:
            task = asyncio.get_running_loop().create_task(self._poll(page, line))
            self._polling.add(task)
            task.add_done_callback(self._polling.discard)

    async def _poll(self, page: PolledPage, line: HostLine) -> None:
        try:
            await self._poller.poll(page, line)
        finally:
            line.leave(page)

    def _next_turn(self, now: datetime) -> datetime:
        latest = now + LONGEST_TURN
        if not self._deps.lease.is_held():
            return latest
        moments = [
            now if line.waiting else moment
            for line in self._lines.values()
            if (moment := line.next_moment()) is not None or line.waiting
        ]
        known = [moment for moment in moments if moment is not None]
        return max(now + SHORTEST_TURN, min((latest, *known)))

    # Watches

    async def _look(self) -> None:
        """Free what dead lanes hold, open what should be watched, claim as much as fits, and end what is over."""
        self._look_now.clear()
        if not self._deps.lease.is_held():
            return
        now = self._clock.now()
        if self._deps.lease.is_steady():
            for rescued in await self._deps.ledger.free_dead(now):
                self._deps.announce(rescued)
        for opened in await self._deps.ledger.open_missing(now):
            self._deps.announce(RunOpened(now, opened.run_id, opened.source_id, opened.trigger, opened.jobs))
        room = self._room()
        if room:
            await self._take_up(await self._deps.ledger.claim(self._deps.lease.worker_id, room, now), now)
        await self._end_hours(now)

    def _room(self) -> int:
        """Return how many watches this process can take: within its cap, and while memory is free."""
        free = self._deps.free_memory()
        if free is not None and free < self._options.least_free_bytes:
            return 0
        return max(0, self._options.most_watches - len(self._watches))

    async def _take_up(self, claimed: Sequence[ClaimedWatch], now: datetime) -> None:
        browsers = sum(any(page.needs_browser for page in watch.pages) for watch in self._watches.values())
        refused = []
        for each in claimed:
            if not each.pages and each.thing is None:
                continue
            needs_browser = any(self._needs_browser(page) for page in each.pages)
            if needs_browser and browsers >= self._options.most_browser_watches:
                refused.append(each)
                continue
            browsers += needs_browser
            self._begin(each, now)
        self._refused += len(refused)
        if refused:
            await self._deps.ledger.release(
                [EndedWatch(each.job, WatchCounts()) for each in refused], now, now + REFUSED_FOR
            )

    def _needs_browser(self, page: WatchedPage | PolledPage) -> bool:
        claimed = page.claimed
        vertical = self._deps.stages.verticals[claimed.job.vertical]
        return fetcher_for(claimed.source, adapter_of(claimed, vertical)) is FetcherKind.BROWSER

    def _begin(self, claimed: ClaimedWatch, now: datetime) -> None:
        rules = self._deps.stages.verticals[claimed.job.vertical].live
        if rules is None:
            return
        watch = Watch(claimed, rules, self._options, now)
        self._watches[claimed.job.id] = watch
        if watch.thing is not None:
            self._writer.begin(watch.thing_id, watch.seq)
        self._add_pages(watch.pages)
        if watch.life is not None and watch.life.paused_until is not None:
            for page in watch.pages:
                page.be_due(max(now, watch.life.paused_until))

    def _add_pages(self, pages: Iterable[PolledPage]) -> None:
        for page in pages:
            page.needs_browser = self._needs_browser(page)
            line = self._lines.get(page.host)
            if line is None:
                line = self._lines[page.host] = HostLine(page.host, self._options)
            line.add(page)

    def _remove(self, watch: Watch) -> None:
        self._watches.pop(watch.job.id, None)
        self._writer.forget(watch.thing_id)
        for page in watch.pages:
            line = self._lines.get(page.host)
            if line is not None:
                line.remove(page)
                if not line.pages:
                    del self._lines[page.host]
                    self._deps.slots.want(page.host, 0)

    def _lose(self, thing_id: int, reason: str) -> None:
        """Give up the watch of a thing: another process holds it, or what it read cannot be written."""
        self._writer.buffer.without(thing_id)
        for watch in [each for each in self._watches.values() if each.thing_id == thing_id and each.thing is not None]:
            self._announce_loss(watch, reason)
            self._remove(watch)
            self._aside(self._deps.ledger.release([EndedWatch(watch.job, watch.counts)], self._clock.now()))

    def _announce_loss(self, watch: Watch, reason: str) -> None:
        job = watch.job
        self._deps.announce(WatchLost(self._clock.now(), job.id, job.run_id, job.source_id, reason))

    async def _rest(self) -> None:
        """End the lane's run while nothing is watched anywhere, and nothing should be: it is run again later."""
        if not self._watches and not len(self._writer.buffer) and not await self._deps.ledger.has_any():
            self._is_idle.set()

    async def _end_hours(self, now: datetime) -> None:
        """End the watches whose hour is over, going on with the next one's, and those of things that are archived."""
        over = [watch for watch in self._watches.values() if watch.is_over and not self._waits(watch)]
        for watch in over:
            self._remove(watch)
        late = [watch for watch in self._watches.values() if now >= watch.ends_at and not watch.is_over]
        ending = [(watch, False) for watch in over] + [(watch, True) for watch in late]
        for start in range(0, len(ending), ENDED_AT_ONCE):
            await self._end(ending[start : start + ENDED_AT_ONCE], now)

    def _waits(self, watch: Watch) -> bool:
        return self._writer.is_waiting_for(watch.thing_id)

    async def _end(self, ending: Sequence[tuple[Watch, bool]], now: datetime) -> None:
        ended = [EndedWatch(watch.job, watch.counts, is_renewed) for watch, is_renewed in ending]
        renewed, finished = await self._deps.ledger.end(ended, self._deps.lease.worker_id, now)
        for watch in [watch for watch, is_renewed in ending if is_renewed]:
            job = renewed.get(watch.job.id)
            if job is None:
                self._announce_loss(watch, "another process holds its watch")
                self._remove(watch)
                continue
            del self._watches[watch.job.id]
            self._writer.succeed(watch.fence, Fence(job.id, job.fence))
            watch.go_on(job, now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
            self._watches[job.id] = watch
        for summary in await self._deps.runs.close_runs(finished, now) if finished else ():
            for happening in happenings_at_run_end(summary, now):
                self._deps.announce(happening)

    # Lists and lives

    def _take_list(self, page: PolledPage, reading: ListReading) -> None:
        """See which things moved, and have the list written beside the polling."""
        now = self._clock.now()
        hints = {each.source_key: each.hint for each in reading.listed if each.hint}
        moved = {key for key, hint in hints.items() if page.watch.hints.get(key, hint) != hint}
        page.watch.hints = hints
        for other in self._pages():
            if other.source_id == page.source_id and other.site is not None and other.site.source_key in moved:
                other.has_moved = True
                if not other.watch.is_paused:
                    other.be_due(min(other.due_at, now))
        self._aside(self._write_list(page, reading))

    async def _write_list(self, page: PolledPage, reading: ListReading) -> None:
        now = self._clock.now()
        source, adapter = page.claimed.source, page.claimed.target.adapter_id
        for thing, move in await self._deps.ledger.put_list(source, adapter, reading, now):
            before = "" if move.before is move.after else move.before
            self._deps.announce(LifeMoved(now, *thing, before, move.after, move.reason))
        await self._read_facts()
        self._look_now.set()

    async def _read_facts(self) -> None:
        """Take in what lists, and other processes, have written about the things that are watched here."""
        mine = {watch.thing_id: watch for watch in self._watches.values() if watch.thing is not None}
        if not mine:
            return
        facts = await self._deps.ledger.facts(list(mine))
        other_pages = []
        for thing_id, watch in mine.items():
            known = facts[thing_id].pages
            if known.keys() != {page.target_id for page in watch.pages}:
                other_pages.append(watch)
            for page in watch.pages:
                page.missed_lists = known.get(page.target_id, page.missed_lists)
            self._hear_lists(watch)
        if other_pages:
            await self._reload(other_pages)

    async def _reload(self, watches: Sequence[Watch]) -> None:
        now = self._clock.now()
        by_job = {watch.job.id: watch for watch in watches}
        for claimed in await self._deps.ledger.reload([watch.job for watch in watches]):
            watch = by_job[claimed.job.id]
            own = [
                msgspec.structs.replace(page, claimed=msgspec.structs.replace(page.claimed, worker_id=self._worker()))
                for page in claimed.pages
            ]
            before = list(watch.pages)
            self._add_pages(watch.take_pages(own, self._options, now))
            for page in before:
                if page.gone and page.host in self._lines:
                    self._lines[page.host].remove(page)

    def _worker(self) -> int:
        return self._deps.lease.worker_id

    def _hear_lists(self, watch: Watch) -> None:
        """Move a thing's life as lists say: absent from all of its sites' lists, or named again."""
        if watch.life is None:
            return
        now, missed = self._clock.now(), watch.missed_lists
        while watch.life.missed_lists != missed:
            is_named = missed < watch.life.missed_lists
            watch.life, move = after_list(watch.life, self._options.lives, is_named=is_named, now=now)
            if move is not None:
                self._poller.queue_move(watch, watch.life, move)
                wake_pages(watch, now)
            if is_named:
                break

    def _age_lives(self, now: datetime) -> None:
        """Archive things whose time has come; their watch ends when that is written."""
        for watch in self._watches.values():
            if watch.life is None or watch.is_over:
                continue
            watch.life, move = after_time(watch.life, self._options.lives, now)
            if move is not None:
                self._poller.queue_move(watch, watch.life, move)
            if watch.life.state is Lifecycle.ARCHIVED:
                watch.is_over = True
                for page in watch.pages:
                    page.be_due(now + timedelta(days=1))

    # What is told

    async def _note(self) -> None:
        """Write when pages were checked, take in what others wrote, and give back slots that nobody wants."""
        now = self._clock.now()
        self._age_lives(now)
        checks = [page.check(now) for page in self._pages()]
        if checks:
            await self._deps.ledger.note_checks(checks, now)
        await self._read_facts()
        await self._drop_lost()

    async def _drop_lost(self) -> None:
        """Give up the watches that are no longer ours by the ledger: another lane freed them."""
        held = await self._deps.ledger.still_held(self._worker())
        for watch in list(self._watches.values()):
            if watch.fence not in held:
                self._announce_loss(watch, "another process holds its watch")
                self._writer.buffer.without(watch.thing_id)
                self._remove(watch)

    async def _refresh_states(self) -> None:
        """Read how sources, targets and breakers stand, and take that into the pages that are polled."""
        pages: dict[tuple[int, int], PolledPage] = {(page.source_id, page.target_id): page for page in self._pages()}

        def take(pair: tuple[int, int], state: CurrentState | None) -> None:
            if state is not None and pair in pages:
                page, was_off = pages[pair], bool(pages[pair].waits_for)
                page.take_state(state)
                if was_off and not page.watch.is_paused:
                    page.be_due(self._clock.now())

        await self._deps.states.refresh(pages, take)
        await self._deps.slots.give_back_unused()

    async def _publish(self) -> None:
        """Hand the contexts to whoever judges health, start anew those that must, and do what is asked."""
        now = self._clock.now()
        contexts = []
        for page in self._pages():
            context = page.context(now)
            reason = restart_reason(context, now)
            if reason is not None:
                self._deps.health.restarted(context, reason, now)
                page.restart(now)
                context = page.context(now)
            contexts.append(context)
        depth = {urgency.name.lower(): 0 for urgency in LiveUrgency}
        for line in self._lines.values():
            for page in line.waiting:
                depth[page.urgency(now).name.lower()] += 1
        report = LaneReport(
            contexts=contexts,
            queue_depth=depth,
            active_tasks=len(self._polling),
            waiting_changes=len(self._writer.buffer),
            refused_watches=self._refused,
        )
        for request in await self._deps.health.publish(report, now):
            self._obey(request, now)

    def _obey(self, request: RecoveryRequest, now: datetime) -> None:
        if request.action is RecoveryAction.CONTEXT_POOL_RESET:
            for page in self._pages():
                page.restart(now)
        elif request.action is RecoveryAction.SOFT_RESTART:
            msg = f"{request.by} asked for a restart"
            raise LaneRestart(msg)

    async def _tell_troubles(self) -> None:
        """Write what breakers and hosts should know, if there is anything."""
        words, lessons = self._troubles.words, self._troubles.lessons
        if not words and not lessons:
            return
        self._troubles.words, self._troubles.lessons = {}, {}
        now = self._clock.now()
        try:
            moved = await self._deps.ledger.signal(list(words.values()), list(lessons.values()), now)
        except StoreLost:
            self._troubles.words = words | self._troubles.words
            self._troubles.lessons = lessons | self._troubles.lessons
            raise
        for change in moved:
            self._deps.announce(BreakerMoved(now, change.source_id, change.before, change.after, change.until))
        await self._refresh_states()

    # Beginning and end

    async def _recover(self) -> None:
        """Write what a process left behind that ended while the database was away."""
        folder = self._options.buffer_folder
        if folder is None:
            return
        for path, entries, trouble in left_behind(folder):
            if trouble:
                self._deps.announce(
                    StoreTrouble(self._clock.now(), f"{path.name} cannot be read to its end: {trouble}")
                )
            written = await self._deps.ledger.write_left_behind(entries, self._clock.now())
            words = f"{written} of {len(entries)} changes that waited in {path.name} are written"
            self._deps.announce(StoreTrouble(self._clock.now(), words))
            path.unlink(missing_ok=True)

    async def _finish_polls(self) -> None:
        """Let polls that are under way come to their end, but not for long."""
        for line in self._lines.values():
            for page in line.pages.values():
                page.be_due(self._clock.now() + timedelta(days=1))
        if self._polling:
            waits = asyncio.ensure_future(self._clock.sleep_until(self._clock.now() + FINISHED_WITHIN))
            finished = asyncio.gather(*self._polling, return_exceptions=True)
            await asyncio.wait((waits, finished), return_when=asyncio.FIRST_COMPLETED)
            waits.cancel()

    async def _hand_over(self) -> None:
        """Release every watch with its counts, so that another process goes on at once."""
        now = self._clock.now()
        held = [EndedWatch(watch.job, watch.counts) for watch in self._watches.values()]
        checks = [page.check(now) for page in self._pages()]
        for watch in list(self._watches.values()):
            self._remove(watch)
        self._lines.clear()
        try:
            if checks:
                await self._deps.ledger.note_checks(checks, now)
            if held:
                await self._deps.ledger.release(held, now)
            await self._deps.health.withdraw()
        except StoreError as trouble:
            self._deps.announce(StoreTrouble(now, str(trouble)))
        saved = self._writer.buffer.save()
        if saved:
            self._deps.announce(StoreTrouble(now, f"{saved} changes wait in a file, to be written at the next start"))
        self._make_writer()

    # Small things

    def _pages(self) -> Iterable[PolledPage]:
        return (page for watch in self._watches.values() for page in watch.pages)

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the polling; what the database refuses is announced."""
        task = asyncio.ensure_future(self._guarded("live list", work))
        self._side.add(task)
        task.add_done_callback(self._side.discard)

    async def _guarded(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except StoreError as trouble:
            self._deps.announce(StoreTrouble(self._clock.now(), str(trouble)))
        except LaneRestart:
            raise
        except Exception as bug:  # noqa: BLE001 - one part's bug must not end the polling; it is announced
            self._deps.announce(PartCrashed(self._clock.now(), name, f"{type(bug).__name__}: {bug}"[:2_000]))

    def _every(
        self, period: timedelta, work: Callable[[], Coroutine[Any, Any, None]], wakes: asyncio.Event | None = None
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        """Return a loop that does something every so often, or when it is woken."""

        async def loop() -> None:
            while True:
                await self._guarded(work.__name__.strip("_"), work())
                await self._pause(period, wakes)

        return loop

    async def _pause(self, period: timedelta, wakes: asyncio.Event | None) -> None:
        until = self._clock.now() + period
        if wakes is None:
            await self._clock.sleep_until(until)
            return
        waits = [asyncio.ensure_future(wakes.wait()), asyncio.ensure_future(self._clock.sleep_until(until))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancelled(waits)


async def _cancelled(tasks: Iterable["asyncio.Future[Any]"]) -> None:
    listed = list(tasks)
    for task in listed:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*listed, return_exceptions=True)
