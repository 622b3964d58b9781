"""The hub: follows the log for all readers of this process, whoever wrote it, and wakes whom a change concerns."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

import msgspec

from tidemill.core.live.change import ThingKey
from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.core.snapshots.cursors import StreamCursor
from tidemill.core.snapshots.wire import change_event
from tidemill.pipeline.ports import Clock, StoreError
from tidemill.store.snapshots.reads import PastState
from tidemill.web.stream.resource import CheckState, CheckTimes, NoChecks, StreamedResource
from tidemill.web.stream.ring import EventRing, RingEvent

LOOK_SECONDS = 1.0
"""How often the log is looked at in case nobody told us."""
READ_AT_ONCE = 1_000
EPOCH_CHECKED_EVERY = timedelta(seconds=5)
CALLERS_CHECKED_EVERY = timedelta(seconds=10)
"""So long after its token was revoked a stream may go on."""

Listener = Callable[[Sequence[LoggedChange]], None]


class FollowedLog(Protocol):
    """Tells what this process commits."""

    def on_publish(self, listener: Listener) -> None:
        """Call `listener` after each commit."""
        ...

    def stop_publishing(self, listener: Listener) -> None:
        """Call it no more."""
        ...


class FollowedReads(Protocol):
    """Reads what any process has committed."""

    async def logged_after(
        self, offset: int, limit: int, vertical: str | None = None, things: Sequence[int] | None = None
    ) -> list[LoggedChange]:
        """Return entries after an offset, in order."""
        ...

    async def latest_of(self, vertical: str, keys: Sequence[str]) -> list[ThingSnapshot]:
        """Return the newest snapshots of things."""
        ...

    async def listed(
        self, vertical: str, *, status: str | None, group: str | None, after: str, limit: int
    ) -> list[ThingSnapshot]:
        """Return the newest snapshots by key."""
        ...

    async def is_missing(self, vertical: str, key: str) -> bool:
        """Return whether it is known among machines that there is no such thing."""
        ...

    async def note_missing(self, vertical: str, key: str) -> None:
        """Let other machines know that there is no such thing."""
        ...

    async def states_at(self, things: Sequence[int], moment: datetime) -> dict[int, PastState]:
        """Return the state that each thing had at a moment; those without one are left out."""
        ...


class FollowedEpochs(Protocol):
    """Tells epoch and newest offset."""

    async def head(self) -> StreamCursor:
        """Return them."""
        ...

    async def open(self, seen: StreamCursor | None = None) -> StreamCursor:
        """Return them, in a new epoch if the log is another one."""
        ...

    def note(self, told: StreamCursor) -> None:
        """Remember what readers have been told."""
        ...


Notifications = Callable[[Callable[[], None]], AbstractAsyncContextManager[None]]
"""Calls back when another process has committed something; for as long as it is entered."""


class StreamCaller(NamedTuple):
    """Whose stream it is, by the key of a token or a session, and whether that would still be let in."""

    key: str
    is_known: Callable[[], Awaitable[bool]]


class HubReader(Protocol):
    """A reader as the hub knows it."""

    caller: StreamCaller | None

    def wake(self, now: datetime) -> None:
        """There is something to send."""
        ...

    def follows(self, change: RingEvent) -> bool:
        """Whether a change concerns it."""
        ...

    def tick(self, now: datetime) -> None:
        """A second has passed."""
        ...

    def begin_anew(self) -> None:
        """The log is another one now."""
        ...

    def leave(self, reason: str) -> None:
        """The process stops, or the reader may not go on."""
        ...


class StreamCounts(msgspec.Struct):
    """What readers went through since the process started."""

    opened: int = 0
    resumed: int = 0
    resynced: int = 0
    conflated: int = 0
    cut: int = 0
    refused: int = 0
    delivered: int = 0


class StreamHub:
    """Keeps the ring filled in the order of commits, and the newest snapshots at hand, while there are readers."""

    def __init__(
        self,
        log: FollowedLog,
        reads: FollowedReads,
        epochs: FollowedEpochs,
        clock: Clock,
        *,
        checks: CheckTimes | None = None,
        notifications: Notifications | None = None,
    ) -> None:
        """Ask nothing of the database before the first reader comes."""
        self._log = log
        self.reads = reads
        self._epochs = epochs
        self.clock = clock
        self.checks = checks or NoChecks()
        self._notifications = notifications
        self.resources: dict[str, StreamedResource] = {}
        self.readers: set[HubReader] = set()
        self.counts = StreamCounts()
        self.epoch = ""
        self.ring = EventRing(0)
        self.away_since: datetime | None = None
        self._epoch_checked_at = self._callers_checked_at = clock.now()
        self._statuses: dict[int, str] = {}
        self._snapshots: dict[ThingKey, ThingSnapshot] = {}
        self._newest: dict[ThingKey, int] = {}
        self._nudge = asyncio.Event()
        self._reading = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self.is_closed = False

    @property
    def head(self) -> StreamCursor:
        """The epoch and the newest offset that readers can be told of."""
        return StreamCursor(self.epoch, self.ring.head)

    def add_resource(self, resource: StreamedResource) -> None:
        """Stream the things of a vertical."""
        self.resources[resource.vertical] = resource

    async def start(self) -> None:
        """Follow the log from its present end; does nothing when it is followed already."""
        async with self._reading:
            if self._following is None:
                opened = await self._epochs.open()
                self._begin(opened)
                self._log.on_publish(self._committed)
                self._following = asyncio.create_task(self._follow(), name="stream hub")

    async def close(self) -> None:
        """Send every reader away, and follow the log no more."""
        self.is_closed = True
        for reader in list(self.readers):
            reader.leave("restart")
        if self._following is not None:
            self._log.stop_publishing(self._committed)
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
            self._following = None

    def close_soon(self) -> None:
        """Send every reader away; the server waits for them before it stops."""
        self.is_closed = True
        for reader in list(self.readers):
            reader.leave("restart")

    def nudge(self) -> None:
        """Look at the log soon: somebody committed something."""
        self._nudge.set()

    async def catch_up(self) -> None:
        """Read all that is committed and not in the ring yet."""
        async with self._reading:
            while True:
                found = await self.reads.logged_after(self.ring.head, READ_AT_ONCE)
                self._append([each for each in found if each.offset > self.ring.head])
                if len(found) < READ_AT_ONCE:
                    break
        self.away_since = None

    async def catch_up_if_possible(self) -> None:
        """Catch up; while the database is away, what is known is served and said to be stale."""
        try:
            await self.catch_up()
        except StoreError:
            self.away_since = self.away_since or self.clock.now()

    async def snapshots(self, vertical: str, keys: Collection[str]) -> list[ThingSnapshot]:
        """Return the newest snapshots, from memory as far as nothing newer was told."""
        wanted = [ThingKey(vertical, key) for key in keys]
        missing = [thing.key for thing in wanted if not self._is_newest(thing)]
        if missing:
            for found in await self.reads.latest_of(vertical, missing):
                self._keep(found)
        return [self._snapshots[thing] for thing in wanted if thing in self._snapshots]

    def checked(self, vertical: str, key: str, known_at: datetime) -> tuple[datetime, CheckState]:
        """Return when a thing was last checked, and by whom; `known_at` is what its snapshot says.

        While the database is away nobody sees what is checked, so that things age from then on.
        """
        check = self.checks.check_of(vertical, key)
        latest = max(known_at, check.checked_at or known_at) if check else known_at
        if self.away_since is not None:
            return min(latest, max(self.away_since, known_at)), CheckState(trouble="store_away")
        return latest, check or CheckState(trouble="no_worker")

    def _is_newest(self, thing: ThingKey) -> bool:
        held = self._snapshots.get(thing)
        return held is not None and thing in self._newest and held.seq >= self._newest[thing]

    def _keep(self, found: ThingSnapshot) -> None:
        self._snapshots[found.thing] = found
        self._newest[found.thing] = max(found.seq, self._newest.get(found.thing, 0))
        self._statuses[found.thing_id] = found.labels.status

    def _begin(self, opened: StreamCursor) -> None:
        self.epoch, self.ring = opened.epoch, EventRing(opened.offset)
        self._snapshots.clear()
        self._newest.clear()
        self._statuses.clear()

    def _committed(self, changes: Sequence[LoggedChange]) -> None:
        """Take in what this process committed; what does not follow is read from the database with what is between."""
        if changes and changes[0].offset == self.ring.head + 1 and not self._reading.locked():
            self._append(changes)
        else:
            self.nudge()

    def _append(self, changes: Sequence[LoggedChange]) -> None:
        now = self.clock.now()
        events = []
        for change in changes:
            resource = self.resources.get(change.thing.vertical)
            data = change_event(resource.name, change, self.epoch) if resource else b""
            event = RingEvent(change, self._statuses.get(change.thing_id), data)
            self._statuses[change.thing_id] = change.status
            if change.thing in self._newest:
                self._newest[change.thing] = change.seq
            self.ring.append(event, now)
            events.append(event)
        if events:
            for reader in self.readers:
                if any(map(reader.follows, events)):
                    reader.wake(now)

    async def _follow(self) -> None:
        """Look at the log whenever somebody says so, and each second in case nobody could."""
        if self._notifications is None:
            await self._look_forever()
            return
        async with self._notifications(self.nudge):
            await self._look_forever()

    async def _look_forever(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._nudge.wait()
            is_told = self._nudge.is_set()
            self._nudge.clear()
            await self.look(is_told=is_told)

    async def look(self, *, is_told: bool = False) -> None:
        """Catch up, notice a restored log, and let readers see to what a second brings."""
        now = self.clock.now()
        try:
            await self._check_epoch(now)
            await self.catch_up()
            self._epochs.note(self.head)
        except (StoreError, OSError):
            self.away_since = self.away_since or now
        if not is_told:
            await self.checks.refresh()
            for reader in list(self.readers):
                reader.tick(now)
            if now - self._callers_checked_at >= CALLERS_CHECKED_EVERY:
                self._callers_checked_at = now
                await self._send_away_unknown()

    async def _send_away_unknown(self) -> None:
        """Say goodbye to whoever would not be let in any more; while the database is away, nobody is sent."""
        callers = {reader.caller.key: reader.caller for reader in self.readers if reader.caller is not None}
        for key, caller in callers.items():
            try:
                is_known = await caller.is_known()
            except (StoreError, OSError):
                return
            for reader in list(self.readers) if not is_known else ():
                if reader.caller is not None and reader.caller.key == key:
                    reader.leave("token")

    async def _check_epoch(self, now: datetime) -> None:
        """Begin anew if the log is another one; readers must not take its numbers for those of the one they knew."""
        if self.away_since is None and now - self._epoch_checked_at < EPOCH_CHECKED_EVERY:
            return
        self._epoch_checked_at = now
        kept = None if self.away_since is not None else await self._epochs.head()
        if kept is not None and kept.epoch == self.epoch and kept.offset >= self.ring.head:
            return
        opened = await self._epochs.open(self.head)
        if opened.epoch != self.epoch:
            async with self._reading:
                self._begin(opened)
            for reader in list(self.readers):
                reader.begin_anew()
