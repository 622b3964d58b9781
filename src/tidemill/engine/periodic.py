"""Periodic work: chores, their schedules, and a runner that does each time slot once."""

import traceback
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from tidemill.core.schedules import Cron, Every, next_due, rhythm_in_words, slot_of
from tidemill.engine.ports import SlotRepository
from tidemill.pipeline.happenings import Announce, TickRan
from tidemill.pipeline.ports import Clock

SILENT_PERIODS = 3
"""A chore that has not succeeded for so many of its periods is overdue."""

ChoreFunction = Callable[[], Awaitable[str]]


class Chore(msgspec.Struct, frozen=True):
    """A piece of periodic work; `run` returns in a few words what it did.

    `follows` names the chore that runs first when both are due. A slot of work that spends money is begun at most
    `begins_within` after its time, and never if it was before anything was first done here; None catches up any slot.
    """

    name: str
    schedule: Every | Cron
    run: ChoreFunction
    follows: str = ""
    begins_within: timedelta | None = None

    def slot(self, now: datetime) -> datetime:
        """Return the time slot that `now` falls in."""
        if isinstance(self.schedule, Every):
            return slot_of(now, self.schedule.interval)
        moment = self.after(now - LONGEST_PERIOD)
        while (following := self.after(moment)) <= now:
            moment = following
        return moment

    def after(self, moment: datetime) -> datetime:
        """Return the first slot after a moment."""
        if isinstance(self.schedule, Every):
            return slot_of(moment, self.schedule.interval) + self.schedule.interval
        return next_due(self.schedule, moment, UTC_ZONE, {}, "")

    @property
    def period(self) -> timedelta:
        """The time between two slots, by which lateness is measured."""
        if isinstance(self.schedule, Every):
            return self.schedule.interval
        first = self.after(EPOCH)
        return self.after(first) - first


UTC_ZONE = ZoneInfo("UTC")
LONGEST_PERIOD = timedelta(days=8)
"""Chores run at least weekly."""
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class ChoreRunner:
    """Runs chores, each slot once across all processes."""

    def __init__(
        self,
        slots: SlotRepository,
        clock: Clock,
        announce: Announce,
        worker_id: Callable[[], int],
    ) -> None:
        """There are no chores until they are registered."""
        self.chores: dict[str, Chore] = {}
        self._slots = slots
        self._clock = clock
        self._announce = announce
        self._worker_id = worker_id

    def register(self, chores: Iterable[Chore]) -> None:
        """Add chores, each after the one that it follows, if there is one."""
        found = list(self.chores.values())
        for chore in chores:
            places = [at for at, other in enumerate(found, 1) if chore.follows in {other.name, other.follows or None}]
            found.insert(places[-1] if places else len(found), chore)
        self.chores = {chore.name: chore for chore in found}

    async def tick(self, name: str) -> str:
        """Run a chore for the current slot, unless another process has or it is too late for it.

        Return `ok`, `failed`, `taken` or `missed`.
        """
        chore = self.chores[name]
        slot = chore.slot(self._clock.now())
        if await self._is_missed(chore, slot):
            return "missed"
        if not await self._slots.take(name, slot, self._worker_id(), self._clock.now()):
            return "taken"
        return await self._run(chore, slot)

    async def _is_missed(self, chore: Chore, slot: datetime) -> bool:
        if chore.begins_within is None:
            return False
        since = await self._slots.since()
        return self._clock.now() - slot > chore.begins_within or since is None or since > slot

    async def run_now(self, name: str) -> str:
        """Run a chore at once, whether or not its slot was done; return `ok` or `failed`.

        The current slot is taken if it is free; otherwise this moment is written down as a slot of its own.
        """
        chore, now = self.chores[name], self._clock.now()
        slot = chore.slot(now)
        if not await self._slots.take(name, slot, self._worker_id(), now):
            slot = now
            await self._slots.take(name, slot, self._worker_id(), now)
        return await self._run(chore, slot)

    async def _run(self, chore: Chore, slot: datetime) -> str:
        status, detail = await run_safely(chore.run)
        await self._slots.finish(chore.name, slot, status, detail, self._clock.now())
        self._announce(TickRan(self._clock.now(), chore.name, slot, status, detail))
        return status

    async def overdue(self) -> list[tuple[str, str]]:
        """Return chores that have not succeeded for three of their periods, even if they died before they wrote a row.

        A chore that never succeeded is counted from the earliest slot of any chore.
        """
        now = self._clock.now()
        last = await self._slots.last_success(list(self.chores))
        since = await self._slots.since() or now
        late = []
        for name, chore in self.chores.items():
            if now - last.get(name, since) > chore.period * SILENT_PERIODS:
                went = f"last went well {last[name]:%Y-%m-%d %H:%M} UTC" if name in last else "has never gone well"
                late.append((name, f"{went}, due {rhythm_in_words(chore.period)}"))
        return late


async def run_safely(function: ChoreFunction) -> tuple[str, str]:
    """Run a chore and return its status and detail; an exception becomes `failed` with its stack."""
    try:
        return "ok", await function()
    except Exception:  # noqa: BLE001 - one chore's crash must not stop the others; its slot keeps the stack
        return "failed", traceback.format_exc(limit=8)
