"""One reader of a stream: a cursor into the shared ring, and what it has been told of each thing."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.live.change import ChangeKind
from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.core.snapshots.cursors import StreamCursor
from tidemill.core.snapshots.staleness import RESUMABLE, StaleLevel, is_too_far_behind, stale_level
from tidemill.core.snapshots.wire import RETRY, change_event, event, fresh_event, snapshot_event, stale_event
from tidemill.web.stream.hub import StreamCaller, StreamHub
from tidemill.web.stream.projection import FieldProjection
from tidemill.web.stream.resource import StreamedResource
from tidemill.web.stream.ring import MOST_REPLAYED, RingEvent, replays_too_much

SILENT_LIMIT = timedelta(seconds=30)
"""A reader that accepts nothing for so long is cut off."""
RETRY_MILLISECONDS = 2_000
LISTED_AT_ONCE = 200

Send = Callable[[bytes], Awaitable[None]]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader asked for: things by key or by status, from a cursor on, whole or some fields of them."""

    keys: frozenset[str] = frozenset()
    status: str | None = None
    after: StreamCursor | None = None
    heartbeat: timedelta = timedelta(seconds=10)
    fields: tuple[str, ...] = ()


class ToldThing(msgspec.Struct):
    """What a reader's staleness depends on, of one thing that it was told of: a state is too large to be kept."""

    thing_id: int
    status: str
    checked_at: datetime
    stale: StaleLevel | None = None


class StreamReader:
    """Sends a reader what it asked for, as fast as it takes it; who falls behind is told the state instead."""

    def __init__(self, hub: StreamHub, resource: StreamedResource, wanted: Wanted, send: Send) -> None:
        """`send` waits until the connection takes more."""
        self._hub = hub
        self._resource = resource
        self._wanted = wanted
        self._send_bytes = send
        self._offset = 0
        self._behind_since: datetime | None = None
        self._things: dict[str, ToldThing] = {}
        self._projection = FieldProjection(resource.name, wanted.fields) if wanted.fields else None
        self._woken = asyncio.Event()
        self._goodbye = ""
        self._is_gone = False
        self._must_begin = ""
        self._must_age = False
        self._sent_at = hub.clock.now()
        self.sending_since: datetime | None = None
        self.caller: StreamCaller | None = None
        self.cut: Callable[[], None] = lambda: None

    async def run(self) -> None:
        """Send until the reader goes, is cut off or is sent away."""
        hub = self._hub
        hub.readers.add(self)
        hub.counts.opened += 1
        try:
            await self._send(RETRY)
            await self._begin(self._wanted.after)
            while not self._is_gone and not self._goodbye:
                await self._woken.wait()
                self._woken.clear()
                await self._send_what_is_new()
            if self._goodbye and not self._is_gone:
                data = {"reason": self._goodbye, "retry_ms": RETRY_MILLISECONDS}
                await self._send(event("bye", data))
        finally:
            hub.readers.discard(self)

    def wake(self, now: datetime) -> None:
        """There is something to send."""
        if self._behind_since is None:
            self._behind_since = now
        self._woken.set()

    def follows(self, change: RingEvent) -> bool:
        """Whether a change is of a thing that this reader asked for."""
        if change.change.thing.vertical != self._resource.vertical:
            return False
        if self._wanted.status is None:
            return change.change.thing.key in self._wanted.keys
        return self._wanted.status in {change.change.status, change.status_before} or (
            change.change.thing.key in self._things and change.status_before is None
        )

    def tick(self, now: datetime) -> None:
        """Wake up when a heartbeat is due or something went stale; cut off who accepts nothing."""
        if self.sending_since is not None:
            if now - self.sending_since >= SILENT_LIMIT:
                self._hub.counts.cut += 1
                self.gone()
                self.cut()
        elif now - self._sent_at >= self._wanted.heartbeat or self._staleness_moves(now):
            self._must_age = True
            self._woken.set()

    def begin_anew(self) -> None:
        """The log is another one: what was told counts no more."""
        self._must_begin = "epoch_changed"
        self._woken.set()

    def leave(self, reason: str) -> None:
        """Say goodbye and end."""
        self._goodbye = reason
        self._woken.set()

    def gone(self) -> None:
        """The other side has closed the connection."""
        self._is_gone = True
        self._woken.set()

    async def _send(self, data: bytes, now: datetime | None = None) -> None:
        if not data or self._is_gone:
            return
        self.sending_since = self._sent_at = now or self._hub.clock.now()
        try:
            await self._send_bytes(data)
        finally:
            self.sending_since = None

    async def _begin(self, after: StreamCursor | None) -> None:
        hub = self._hub
        reason = "" if after is None else await self._resume(after)
        if after is not None and not reason:
            hub.counts.resumed += 1
            return
        if reason:
            hub.counts.resynced += 1
            await self._send(event("resync", {"reason": reason}))
        self._offset = hub.ring.head
        found = await self._all_things()
        await self._send_snapshots(found, conflated=False)

    async def _resume(self, after: StreamCursor) -> str:
        """Go on after a cursor; return why that cannot be done, '' if it was."""
        hub = self._hub
        if after.epoch != hub.epoch:
            return "epoch_changed"
        if after.offset > hub.ring.head:
            await hub.catch_up()
        if after.offset > hub.ring.head:
            return "unknown"
        head = hub.ring.head  # what is committed while the things are read comes after it, perhaps a second time
        things = await self._all_things()
        self._note(things)
        if self._projection is not None:
            return await self._resume_whole(head, [found for found in things if found.offset > after.offset])
        if after.offset >= hub.ring.base:
            events = [each for each in hub.ring.after(after.offset) if self.follows(each)]
            if replays_too_much([each.change for each in events]):
                return "too_far"
            self._offset = hub.ring.head
            await self._send(await self._bytes_of(events))
        elif reason := await self._resume_from_log(after.offset):
            return reason
        await self._send(self._staleness_events(hub.clock.now(), self._things))
        return ""

    async def _resume_from_log(self, offset: int) -> str:
        hub = self._hub
        head = hub.ring.head
        chosen = [found.thing_id for found in self._things.values()] if self._wanted.status is None else None
        limit = MOST_REPLAYED * max(1, len(self._things)) + 1
        found = await hub.reads.logged_after(offset, limit, self._resource.vertical, chosen)
        if found and hub.clock.now() - found[0].logged_at > RESUMABLE:
            return "too_old"
        if len(found) >= limit or replays_too_much(found):
            return "too_far"
        if self._wanted.status is not None:  # some came into this status and some left it: each is told as it is now
            keys = {each.thing.key for each in found if each.thing.key in self._things or each.seq > 1}
            moved = await hub.snapshots(self._resource.vertical, keys)
            return await self._resume_whole(head, moved)
        self._offset = max(head, found[-1].offset if found else head)
        await self._send(b"".join(change_event(self._resource.name, each, hub.epoch) for each in found))
        return ""

    async def _resume_whole(self, head: int, moved: list[ThingSnapshot]) -> str:
        """Tell what has changed since the cursor as a whole; `head` is where the ring was before it was read."""
        self._offset = head
        await self._send_snapshots(moved, conflated=True)
        return ""

    async def _all_things(self) -> list[ThingSnapshot]:
        if self._wanted.status is None:
            return await self._hub.snapshots(self._resource.vertical, self._wanted.keys)
        found: list[ThingSnapshot] = []
        while True:
            last = found[-1].thing.key if found else ""
            more = await self._hub.reads.listed(
                self._resource.vertical, status=self._wanted.status, group=None, after=last, limit=LISTED_AT_ONCE
            )
            found += more
            if len(more) < LISTED_AT_ONCE:
                return found

    async def _send_what_is_new(self) -> None:
        now = self._hub.clock.now()
        if self._must_begin:
            reason, self._must_begin = self._must_begin, ""
            self._things.clear()
            self._hub.counts.resynced += 1
            await self._send(event("resync", {"reason": reason}))
            self._offset = self._hub.ring.head
            await self._send_snapshots(await self._all_things(), conflated=False)
            return
        told: set[str] = set()
        data = await self._changes(now, told)
        self._behind_since = None
        # Things go stale by the second: each tick looks at all of them, a delivery at those that it tells of.
        keys = self._things if self._must_age else told
        self._must_age = False
        data += self._staleness_events(now, keys)
        if not data and now - self._sent_at >= self._wanted.heartbeat:
            data = self._heartbeat(now)
        await self._send(data, now)

    async def _changes(self, now: datetime, told: set[str]) -> bytes:
        """Return the events of what changed since the cursor; for who is too far behind, whole states.

        Adds to `told` what they are about.
        """
        ring, hub = self._hub.ring, self._hub
        if self._offset >= ring.head:
            return b""
        is_lost = self._offset < ring.base
        events = [] if is_lost else [each for each in ring.after(self._offset) if self.follows(each)]
        told.update(each.change.thing.key for each in events)
        waited = now - (self._behind_since or now)
        size = sum(len(each.data) for each in events)
        if is_lost or is_too_far_behind(len(events), size, waited):
            hub.counts.conflated += 1
            self._offset = ring.head
            keys = {each.change.thing.key for each in events} if not is_lost else set(self._things)
            if is_lost:
                keys |= {each.thing.key for each in await self._all_things()}
            told |= keys
            return self._snapshot_bytes(await hub.snapshots(self._resource.vertical, keys), conflated=True)
        self._offset = ring.head
        return await self._bytes_of(events)

    async def _bytes_of(self, events: Collection[RingEvent]) -> bytes:
        if not events:
            return b""
        hub = self._hub
        hub.counts.delivered += len(events)
        if self._projection is not None:
            keys = {each.change.thing.key for each in events}
            found = await hub.snapshots(self._resource.vertical, keys)
            self._note(found)
            known = [each for each in found if self._projection.can_follow(each)]
            deltas = self._projection.deltas(known, [each.change for each in events], hub.epoch)
            return self._untold([each for each in found if each not in known], has_more=bool(deltas)) + deltas
        parts = []
        for each in events:
            if each.change.thing.key in self._things or each.change.seq == 1:
                self._follow(each.change)
                parts.append(each.data)
            else:  # it came in by its status: changes have nothing to be applied to
                found = await hub.snapshots(self._resource.vertical, [each.change.thing.key])
                self._note(found)  # without a cursor: a cut right after it must not lose what follows
                parts += [self._one_snapshot(snapshot, None, conflated=False) for snapshot in found]
        return b"".join(parts)

    def _untold(self, found: list[ThingSnapshot], *, has_more: bool) -> bytes:
        """Tell parts whole whose reader came back with a cursor: what it holds of them is not known here."""
        cursor = StreamCursor(self._hub.epoch, self._offset)
        return b"".join(
            self._one_snapshot(each, cursor if number == len(found) and not has_more else None, conflated=True)
            for number, each in enumerate(found, 1)
        )

    def _follow(self, change: LoggedChange) -> None:
        told = self._things.get(change.thing.key)
        if told is None:
            self._things[change.thing.key] = ToldThing(change.thing_id, change.status, change.changed_at)
        else:
            told.status = change.status
            if change.kind is not ChangeKind.STATUS:
                told.checked_at = change.changed_at

    def _note(self, found: Iterable[ThingSnapshot]) -> None:
        for each in found:
            told = self._things.get(each.thing.key)
            stale = told.stale if told else None
            self._things[each.thing.key] = ToldThing(each.thing_id, each.labels.status, each.checked_at, stale)

    async def _send_snapshots(self, found: list[ThingSnapshot], *, conflated: bool) -> None:
        """Send snapshots one by one, so that a thousand of them are never in memory together."""
        self._note(found)
        cursor = StreamCursor(self._hub.epoch, self._offset)
        for number, each in enumerate(found, 1):
            await self._send(self._one_snapshot(each, cursor if number == len(found) else None, conflated=conflated))
        await self._send(self._staleness_events(self._hub.clock.now(), self._things))

    def _snapshot_bytes(self, found: list[ThingSnapshot], *, conflated: bool) -> bytes:
        self._note(found)
        cursor = StreamCursor(self._hub.epoch, self._offset)
        return b"".join(
            self._one_snapshot(each, cursor if number == len(found) else None, conflated=conflated)
            for number, each in enumerate(found, 1)
        )

    def _one_snapshot(self, found: ThingSnapshot, cursor: StreamCursor | None, *, conflated: bool) -> bytes:
        checked_at, _ = self._hub.checked(*found.thing, found.checked_at)
        if self._projection is not None:
            found = self._projection.whole(found)
        return snapshot_event(self._resource.name, found, checked_at, cursor, conflated=conflated)

    def _levels(self, now: datetime, keys: Iterable[str]) -> dict[str, tuple[StaleLevel | None, datetime, str]]:
        """Return how stale each of some things is, since when, and why."""
        levels = {}
        for key in keys:
            told = self._things.get(key)
            if told is None:
                continue
            at, check = self._hub.checked(self._resource.vertical, key, told.checked_at)
            is_live = told.status in self._resource.live_statuses
            levels[key] = (stale_level(at, now, is_live=is_live, rests=check.rests), at, check.trouble)
        return levels

    def _staleness_moves(self, now: datetime) -> bool:
        return any(
            level is not self._things[key].stale for key, (level, _, _) in self._levels(now, self._things).items()
        )

    def _staleness_events(self, now: datetime, keys: Iterable[str]) -> bytes:
        parts = []
        for key, (level, since, reason) in self._levels(now, keys).items():
            if level is self._things[key].stale:
                continue
            self._things[key].stale = level
            if level is None:
                parts.append(fresh_event(self._resource.name, key, since, now))
            else:
                parts.append(stale_event(self._resource.name, key, since, now, level, reason or "source_down"))
        return b"".join(parts)

    def _heartbeat(self, now: datetime) -> bytes:
        ages = {
            key: round((now - at).total_seconds(), 1) for key, (_, at, _) in self._levels(now, self._things).items()
        }
        data: dict[str, Any] = {"at": now, "cursor": str(StreamCursor(self._hub.epoch, self._offset)), "ages": ages}
        return event("heartbeat", data)
