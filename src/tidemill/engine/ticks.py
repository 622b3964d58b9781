"""Periodic work, defined once for every engine: what, how often, and the row that proves it."""

import traceback
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from tidemill.core.schedules import Cron, Every, next_due, slot_of
from tidemill.engine.ports import SlotRepository
from tidemill.pipeline.happenings import Announce, TickRan
from tidemill.pipeline.ports import Clock

SILENT_PERIODS = 3
"""A piece of work that has not gone well for so many of its periods is overdue."""

Chore = Callable[[], Awaitable[str]]


class Tick(msgspec.Struct, frozen=True):
    """A piece of periodic work; it answers in a few words what it did.

    `follows` names work that goes first where both are due at one moment.
    """

    name: str
    rhythm: Every | Cron
    chore: Chore
    follows: str = ""

    def slot(self, now: datetime) -> datetime:
        """The slot that `now` falls in."""
        if isinstance(self.rhythm, Every):
            return slot_of(now, self.rhythm.interval)
        moment = self.after(now - LONGEST_PERIOD)
        while (following := self.after(moment)) <= now:
            moment = following
        return moment

    def after(self, moment: datetime) -> datetime:
        """The first slot after a moment."""
        if isinstance(self.rhythm, Every):
            return slot_of(moment, self.rhythm.interval) + self.rhythm.interval
        return next_due(self.rhythm, moment, UTC_ZONE, {}, "")

    @property
    def period(self) -> timedelta:
        """How long between two slots, as far as silence goes."""
        if isinstance(self.rhythm, Every):
            return self.rhythm.interval
        first = self.after(EPOCH)
        return self.after(first) - first


UTC_ZONE = ZoneInfo("UTC")
LONGEST_PERIOD = timedelta(days=8)
"""Periodic work is weekly at the rarest."""
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Ticks:
    """Runs periodic work, each slot once across all processes."""

    def __init__(
        self,
        slots: SlotRepository,
        clock: Clock,
        announce: Announce,
        worker_id: Callable[[], int],
    ) -> None:
        """The list is empty until work is registered."""
        self.all: dict[str, Tick] = {}
        self._slots = slots
        self._clock = clock
        self._announce = announce
        self._worker_id = worker_id

    def register(self, ticks: Iterable[Tick]) -> None:
        """Put work on the list, each after the work that it names, if that is there."""
        found = list(self.all.values())
        for tick in ticks:
            places = [at for at, other in enumerate(found, 1) if tick.follows in {other.name, other.follows or None}]
            found.insert(places[-1] if places else len(found), tick)
        self.all = {tick.name: tick for tick in found}

    async def tick(self, name: str) -> str:
        """Do a piece of work for the slot of this moment, unless somebody has; answers how it went."""
        tick = self.all[name]
        slot = tick.slot(self._clock.now())
        if not await self._slots.take(name, slot, self._worker_id(), self._clock.now()):
            return "taken"
        status, detail = await attempt(tick.chore)
        await self._slots.finish(name, slot, status, detail, self._clock.now())
        self._announce(TickRan(self._clock.now(), name, slot, status, detail))
        return status

    async def overdue(self) -> list[tuple[str, str]]:
        """Work that has not gone well for three of its periods, even if it died before it wrote a row.

        What has never gone well is counted from the first that anything is known of.
        """
        now = self._clock.now()
        last = await self._slots.last_success(list(self.all))
        since = await self._slots.since() or now
        late = []
        for name, tick in self.all.items():
            if now - last.get(name, since) > tick.period * SILENT_PERIODS:
                went = f"last went well {last[name]:%Y-%m-%d %H:%M} UTC" if name in last else "has never gone well"
                late.append((name, f"{went}, due every {tick.period}"))
        return late


async def attempt(chore: Chore) -> tuple[str, str]:
    """Do a chore; a failure is written down, and is nobody else's."""
    try:
        return "ok", await chore()
    except Exception:  # noqa: BLE001 - one chore's crash must not stop the others; its stack is kept in its slot
        return "failed", traceback.format_exc(limit=8)
