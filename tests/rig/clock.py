"""Time and chance under a test's thumb: no test waits, and no test is lucky."""

import asyncio
from datetime import UTC, datetime, timedelta
from random import Random

from tidemill.engine.clock import RealClock

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class SettableClock:
    """A `Clock` that stands still until it is set, advanced or slept on.

    Sleeping jumps straight to the moment asked for, never backwards, and gives other tasks one turn.
    """

    def __init__(self, now: datetime = NOON) -> None:
        """Start at `now`."""
        self._now = now
        self.slept_until: list[datetime] = []

    def now(self) -> datetime:
        """The moment the test has set."""
        return self._now

    def set(self, moment: datetime) -> None:
        """Make it `moment`, earlier or later."""
        self._now = moment

    def advance(self, by: timedelta) -> datetime:
        """Let `by` pass and say what time it is then."""
        self._now += by
        return self._now

    async def sleep_until(self, moment: datetime) -> None:
        """Jump to `moment` unless it has passed; note that someone slept."""
        self.slept_until.append(moment)
        self._now = max(self._now, moment)
        await asyncio.sleep(0)  # noqa: TID251 -- passes the turn, waits for no time


class LaterClock(RealClock):
    """The machine's time, so much later: leases run out, and waits end, without anybody waiting for them."""

    def __init__(self, ahead: timedelta = timedelta(0)) -> None:
        """Be ahead by so much."""
        super().__init__()
        self.ahead = ahead

    def now(self) -> datetime:
        """The present moment there."""
        return super().now() + self.ahead

    def compare(self) -> None:
        """Nobody sets this clock."""

    def catch_up(self, moment: datetime) -> None:
        """Nor is it behind."""


class LoadedDice:
    """`Dice` that fall as told, and complain when they are thrown more often than that."""

    def __init__(self, *rolls: float) -> None:
        """Fall as `rolls`, in this order."""
        self._rolls = iter(rolls)

    def random(self) -> float:
        """The next roll."""
        roll = next(self._rolls, None)
        assert roll is not None, "the dice were thrown more often than the test foresaw"
        return roll


def seeded_dice(seed: int = 7) -> Random:
    """`Dice` that fall the same way in every run."""
    return Random(seed)  # noqa: S311 -- repeatable on purpose, guards nothing
