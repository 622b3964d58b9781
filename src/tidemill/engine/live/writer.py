"""The writer of the live lane: numbers changes, commits those of many watches together, and publishes after that."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.live.change import Fence
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.engine.live.spill import ChangeBuffer
from tidemill.engine.writer import pause_after
from tidemill.pipeline.happenings import Announce, ChangeLogged, ChangesCaughtUp, LifeMoved, StoreTrouble, WatchPaused
from tidemill.pipeline.live_ports import PendingEntry, WatchLedger, Written
from tidemill.pipeline.ports import Clock, StoreLost

MOST_TOGETHER = 64
LONGEST_PAUSE = timedelta(seconds=5)
"""While the database is away it is asked this often at least."""

Lose = Callable[[int, str], None]
"""Called with a thing whose watch is lost, and why."""


class LiveWriter:
    """Takes entries in the order of their things, and writes them in that order, each once."""

    def __init__(self, ledger: WatchLedger, clock: Clock, announce: Announce, buffer: ChangeBuffer, lose: Lose) -> None:
        """What waits is kept in `buffer`."""
        self._ledger = ledger
        self._clock = clock
        self._announce = announce
        self._buffer = buffer
        self._lose = lose
        self._newest: dict[int, int] = {}
        self._successors: dict[Fence, Fence] = {}
        self._has_entries = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._is_empty.set()
        self.away_since: datetime | None = None
        self._written_since = 0

    @property
    def buffer(self) -> ChangeBuffer:
        """What waits."""
        return self._buffer

    def begin(self, thing_id: int, seq: int) -> None:
        """Number a thing's entries on from `seq`, because its watch begins."""
        self._newest[thing_id] = seq

    def forget(self, thing_id: int) -> None:
        """Forget a thing whose watch is over."""
        self._newest.pop(thing_id, None)

    def succeed(self, before: Fence, after: Fence) -> None:
        """Write under another fence what waits under the one before: the watch goes on with the next hour's job."""
        self._successors[before] = after

    def put(self, entry: PendingEntry) -> None:
        """Queue an entry; one with a change gets the next number of its thing."""
        if entry.change is not None:
            seq = self._newest[entry.thing_id] = self._newest.get(entry.thing_id, 0) + 1
            entry = msgspec.structs.replace(entry, seq=seq)
        self._buffer.append(entry)
        self._is_empty.clear()
        self._has_entries.set()

    def is_waiting_for(self, thing_id: int) -> bool:
        """Return whether anything of a thing may wait; what is in the file is not looked at."""
        if self._buffer.is_spilling:
            return True
        return any(entry.thing_id == thing_id for entry in self._buffer.first(len(self._buffer)))

    async def drain(self, until: datetime) -> bool:
        """Wait until nothing waits, for so long at most; return whether it is so."""
        waits = [asyncio.ensure_future(self._is_empty.wait()), asyncio.ensure_future(self._clock.sleep_until(until))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        return self._is_empty.is_set()

    async def run(self) -> None:
        """Write for ever; while the database is away, try again every few seconds."""
        tries = 0
        while True:
            await self._has_entries.wait()
            batch = self._buffer.first(MOST_TOGETHER)
            try:
                await self._commit(batch)
            except StoreLost as trouble:
                if self.away_since is None:
                    self.away_since = self._clock.now()
                    words = f"{trouble}; polling goes on, and what changes waits to be written"
                    self._announce(StoreTrouble(self._clock.now(), words))
                pause = min(LONGEST_PAUSE, pause_after(trouble, tries))
                tries += 1
                await self._clock.sleep_until(self._clock.now() + pause)
                continue
            tries = 0
            self._settle(batch)
            self._tell_if_caught_up(len(batch))

    def _tell_if_caught_up(self, written: int) -> None:
        """Say that the database is back, once all that waited is written."""
        if self.away_since is None:
            return
        self._written_since += written
        if not len(self._buffer):
            now = self._clock.now()
            away = (now - self.away_since).total_seconds()
            self._announce(ChangesCaughtUp(now, round(away, 1), self._written_since))
            self.away_since, self._written_since = None, 0

    def _settle(self, written: Sequence[PendingEntry]) -> None:
        self._buffer.drop({entry.token for entry in written})
        if not len(self._buffer):
            self._has_entries.clear()
            self._is_empty.set()
            self._successors.clear()

    async def _commit(self, batch: Sequence[PendingEntry]) -> None:
        """Write a group; if it is refused, thing by thing, because one may be at fault."""
        fenced = [self._under_new_fence(entry) for entry in batch]
        try:
            written = await self._ledger.write(fenced, self._clock.now())
        except StoreLost:
            raise
        except Exception as refusal:  # noqa: BLE001 - one thing's trouble must not cost the others their changes
            things = list(dict.fromkeys(entry.thing_id for entry in fenced))
            if len(things) == 1:
                self._give_up(things[0], refusal)
                return
            for thing in things:
                await self._commit([entry for entry in batch if entry.thing_id == thing])
            return
        self._tell(fenced, written)

    def _under_new_fence(self, entry: PendingEntry) -> PendingEntry:
        fence = entry.fence
        while fence in self._successors:
            fence = self._successors[fence]
        return entry if fence is entry.fence else msgspec.structs.replace(entry, fence=fence)

    def _give_up(self, thing_id: int, refusal: Exception) -> None:
        words = f"{type(refusal).__name__}: {refusal}"[:500]
        self._announce(
            StoreTrouble(self._clock.now(), f"what a watch of thing {thing_id} read is not written: {words}")
        )
        self._lose(thing_id, words)

    def _tell(self, batch: Sequence[PendingEntry], written: Written) -> None:
        self._ledger.publish(written.appended)
        now = self._clock.now()
        for logged in [each.entry for each in written.appended if each.event is not None]:
            waited = (now - logged.read_at).total_seconds()
            self._announce(ChangeLogged(now, *logged.thing, logged.seq, logged.change.kind, logged.source, waited))
        for entry in batch:
            if entry.move is not None and entry.thing_id not in written.lost:
                move = entry.move
                self._announce(LifeMoved(move.at, *entry.thing, move.before, move.after, move.reason))
                if move.after is Lifecycle.PAUSED:
                    self._announce(WatchPaused(move.at, *entry.thing, move.reason))
        for thing_id in written.lost:
            self._lose(thing_id, "another process holds its watch")
