"""The live lane of one process: it claims watches, polls their pages, and hands them over when it ends."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from tidemill.core.health.contexts import ScraperContext, restart_reason
from tidemill.core.health.recovery import RecoveryAction, RecoveryRequest
from tidemill.core.live.change import Fence
from tidemill.core.live.polling import LiveUrgency
from tidemill.core.live.rules import ListReading
from tidemill.core.live.status import LaneStatus
from tidemill.engine.live.dependencies import LaneDependencies
from tidemill.engine.live.host_line import HostLine
from tidemill.engine.live.lives import WatchedLives
from tidemill.engine.live.loops import LaneLoops, LaneRestart, Work, cancelled
from tidemill.engine.live.poller import LiveTroubles, Poller
from tidemill.engine.live.roster import WatchRoster
from tidemill.engine.live.spill import ChangeBuffer, left_behind, put_aside
from tidemill.engine.live.spilled_lines import EntryLines
from tidemill.engine.live.states import READ_EVERY
from tidemill.engine.live.watch import PolledPage, Watch
from tidemill.engine.live.writer import LiveWriter
from tidemill.pipeline.dependencies import CurrentState
from tidemill.pipeline.happenings import BreakerMoved, RunOpened, StoreTrouble, WatchLost, happenings_at_run_end
from tidemill.pipeline.health_ports import PUBLISHED_EVERY, LaneReport
from tidemill.pipeline.live_ports import LOOKS_EVERY, ClaimedWatch, EndedWatch, WatchCounts
from tidemill.pipeline.ports import StoreError, StoreLost

NOTED_EVERY = timedelta(seconds=15)
"""How often it is written when pages were checked."""
SHORTEST_TURN = timedelta(milliseconds=20)
LONGEST_TURN = timedelta(milliseconds=250)
"""Between these the lane looks which pages are due: soon while some wait, and not too late to hear of a change."""
DRAINED_WITHIN = timedelta(seconds=2)
FINISHED_WITHIN = timedelta(seconds=1)
"""When the lane ends: how long writing may take, and polls under way; then watches are handed on."""
TOLD_EVERY = timedelta(seconds=1)
MIRRORED_EVERY = timedelta(milliseconds=250)
RESTS_AFTER = timedelta(seconds=30)
"""How often a lane without watches asks whether there is anything to watch at all."""
REFUSED_FOR = timedelta(seconds=30)
ENDED_AT_ONCE = 200


class LiveLane:
    """Watches things: one instance per process, run again after whatever ended it."""

    def __init__(self, deps: LaneDependencies, name: str) -> None:
        """`name` tells this process from others, in the name of its file."""
        self._deps = deps
        self._clock = deps.clock
        self._options = deps.options
        self._name = name
        self._roster = WatchRoster(deps.stages, deps.options, lambda host: deps.slots.want(host, 0))
        self._lives = WatchedLives(deps.ledger, self._roster, deps.lease, deps.clock, deps.announce, deps.options)
        self._troubles = LiveTroubles()
        self._polling: set[asyncio.Task[None]] = set()
        self._loops = LaneLoops(deps.clock, deps.announce)
        self._stopping = asyncio.Event()
        self._is_idle = asyncio.Event()
        self._look_now = asyncio.Event()
        self._refused = 0
        self._declined: set[int] = set()
        self._lines = EntryLines(self._row_types)
        self._make_writer()
        deps.lease.verify = self._drop_lost
        deps.lease.on_beat = self._count_lanes

    def _make_writer(self) -> None:
        options = self._options
        buffer = ChangeBuffer(
            options.most_waiting, options.most_waiting_bytes, options.buffer_folder, self._name, self._lines
        )  # fmt: skip
        self._writer = LiveWriter(self._deps.ledger, self._clock, self._deps.announce, buffer, self._lose)
        self._poller = Poller(
            self._deps.stages, options, self._deps.dice, self._writer, self._troubles, self._deps.health,
            self._deps.announce, take_list=self._take_list, readers=self._deps.readers,
        )  # fmt: skip

    def _row_types(self, vertical: str) -> Mapping[str, type]:
        known = self._deps.stages.verticals.get(vertical)
        return {each.__name__: each for each in known.live.row_types} if known and known.live else {}

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
        return self._roster.watches

    def contexts(self) -> list[ScraperContext]:
        """Return every page that is polled, as a scraper context."""
        now = self._clock.now()
        return [page.context(now, self._deps.browser_usage()) for page in self._roster.pages()]

    def status(self) -> LaneStatus:
        """Return how the lane stands."""
        now = self._clock.now()
        return LaneStatus(
            pages=tuple(page.status(now) for page in self._roster.pages()),
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
        parts = self._parts()
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
            await cancelled((*tasks, *ends, *self._polling, *self._loops.side))
            await self._hand_over()
        return None

    def _parts(self) -> dict[str, Work]:
        """Return what the lane does all the time, by name."""
        every: dict[str, tuple[timedelta, Work, asyncio.Event | None]] = {
            "look": (LOOKS_EVERY, self._look, self._look_now),
            "states": (READ_EVERY, self._refresh_states, None),
            "note": (NOTED_EVERY, self._note, None),
            "publish": (PUBLISHED_EVERY, self._publish, None),
            "rest": (RESTS_AFTER, self._rest, None),
            "troubles": (TOLD_EVERY, self._tell_troubles, None),
        }
        if self._deps.mirror is not None:
            every["mirror"] = (MIRRORED_EVERY, self._deps.mirror.copy_changed, None)
        always: dict[str, Work] = {"beat": self._deps.lease.keep, "writer": self._writer.run, "poll": self._poll_due}
        return always | {
            name: self._loops.every(period, name, work, wakes) for name, (period, work, wakes) in every.items()
        }

    # Polling

    async def _poll_due(self) -> None:
        """Start the polls that are due, for ever."""
        while True:
            now = self._clock.now()
            if self._deps.lease.is_held():
                for line in self._roster.lines.values():
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
            for line in self._roster.lines.values()
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
        room = self._roster.room(self._deps.free_memory())
        if room:
            if self._roster.has_browser_room():
                self._declined.clear()
            claimed = await self._deps.ledger.claim(self._deps.lease.worker_id, room, now, self._declined)
            refused = self._roster.begin(claimed, self._writer, now)
            await self._refuse(refused, now)
        await self._end_hours(now)

    async def _refuse(self, refused: Sequence[ClaimedWatch], now: datetime) -> None:
        """Leave watches to others for which there is no room here, and do not take them again while that is so."""
        self._refused += len(refused)
        self._declined |= {each.job.id for each in refused}
        if refused:
            handed = [EndedWatch(each.job, WatchCounts()) for each in refused]
            await self._deps.ledger.release(handed, now, now + REFUSED_FOR)

    def _remove(self, watch: Watch) -> None:
        self._writer.forget(watch.thing_id)
        self._roster.remove(watch)

    def _lose(self, thing_id: int, reason: str) -> None:
        """Give up the watch of a thing: another process holds it, or what it read cannot be written."""
        self._writer.buffer.without(thing_id)
        for watch in self._roster.of_thing(thing_id):
            self._announce_loss(watch, reason)
            self._remove(watch)
            handed = [EndedWatch(watch.job, watch.counts)]
            self._loops.aside("release", self._deps.ledger.release(handed, self._clock.now()))

    def _announce_loss(self, watch: Watch, reason: str) -> None:
        job = watch.job
        self._deps.announce(WatchLost(self._clock.now(), job.id, job.run_id, job.source_id, reason))

    async def _rest(self) -> None:
        """End the lane's run while nothing is watched anywhere, and nothing should be: it is run again later."""
        if not self._roster.watches and not len(self._writer.buffer) and not await self._deps.ledger.has_any():
            self._is_idle.set()

    async def _end_hours(self, now: datetime) -> None:
        """End the watches whose hour is over, going on with the next one's, and those of things that are archived."""
        over = [watch for watch in self._roster.watches if watch.is_over and not self._waits(watch)]
        for watch in over:
            self._remove(watch)
        late = [watch for watch in self._roster.watches if now >= watch.ends_at and not watch.is_over]
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
            before = watch.job.id
            self._writer.succeed(watch.fence, Fence(job.id, job.fence))
            watch.go_on(job, now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
            self._roster.rekey(before, watch)
        for summary in await self._deps.runs.close_runs(finished, now) if finished else ():
            for happening in happenings_at_run_end(summary, now):
                self._deps.announce(happening)

    # What is told

    def _take_list(self, page: PolledPage, reading: ListReading) -> None:
        """See which things moved, and have the list written beside the polling."""
        self._lives.see_moved(page, reading)
        self._loops.aside("list", self._write_list(page, reading))

    async def _write_list(self, page: PolledPage, reading: ListReading) -> None:
        await self._lives.write_list(page, reading, self._poller)
        self._look_now.set()

    async def _note(self) -> None:
        """Write when pages were checked, take in what others wrote, and give back slots that nobody wants."""
        now = self._clock.now()
        self._lives.age(self._poller, now)
        checks = [page.check(now) for page in self._roster.pages()]
        if checks:
            await self._deps.ledger.note_checks(checks, now)
        await self._lives.read_facts(self._poller)
        await self._drop_lost()

    async def _drop_lost(self) -> None:
        """Give up the watches that are no longer ours by the ledger: another lane freed them."""
        held = await self._deps.ledger.still_held(self._deps.lease.worker_id)
        for watch in self._roster.watches:
            if watch.fence not in held:
                self._announce_loss(watch, "another process holds its watch")
                self._writer.buffer.without(watch.thing_id)
                self._remove(watch)

    async def _refresh_states(self) -> None:
        """Read how sources, targets and breakers stand, and take that into the pages that are polled."""
        pages: dict[tuple[int, int], PolledPage] = {
            (page.source_id, page.target_id): page for page in self._roster.pages()
        }

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
        contexts, browser = [], self._deps.browser_usage()
        for page in self._roster.pages():
            context = page.context(now, browser)
            reason = restart_reason(context, now)
            if reason is not None:
                self._deps.health.restarted(context, reason, now)
                page.restart(now)
                context = page.context(now)
            contexts.append(context)
        depth = {urgency.name.lower(): 0 for urgency in LiveUrgency}
        for line in self._roster.lines.values():
            for page in line.waiting:
                depth[page.urgency(now).name.lower()] += 1
        report = LaneReport(
            contexts=contexts,
            queue_depth=depth,
            active_tasks=len(self._polling),
            waiting_changes=len(self._writer.buffer),
            refused_watches=self._refused,
        )
        if self._deps.mirror is not None:
            await self._deps.mirror.publish(report, now)
        for request in await self._deps.health.publish(report, now):
            self._obey(request, now)

    def _obey(self, request: RecoveryRequest, now: datetime) -> None:
        if request.action is RecoveryAction.CONTEXT_POOL_RESET:
            for page in self._roster.pages():
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
        for path, entries, trouble in left_behind(folder, self._lines):
            written = await self._deps.ledger.write_left_behind(entries, self._clock.now())
            words = f"{written} of {len(entries)} changes that waited in {path.name} are written"
            if trouble:
                words += f"; it cannot be read to its end and is kept as {put_aside(path).name}: {trouble}"
            else:
                path.unlink(missing_ok=True)
            self._deps.announce(StoreTrouble(self._clock.now(), words))

    async def _finish_polls(self) -> None:
        """Let polls that are under way come to their end, but not for long."""
        for line in self._roster.lines.values():
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
        held = [EndedWatch(watch.job, watch.counts) for watch in self._roster.watches]
        checks = [page.check(now) for page in self._roster.pages()]
        for watch in self._roster.watches:
            self._remove(watch)
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
