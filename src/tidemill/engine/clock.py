"""The real clock and random numbers: the only code that reads either."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import msgspec

CHECKED_EVERY = timedelta(seconds=5)
"""How often whoever runs for long compares its time with the machine's."""
NOTICEABLE = timedelta(seconds=2)
"""A difference from which somebody must have set the clock: none that is kept in step drifts so far in five seconds."""
BEHIND = timedelta(seconds=30)
"""How far what is on record may be ahead of us: the clocks of two machines are never quite in step."""
MAX_SKEW = timedelta(seconds=2)
"""How far a machine's clock and the database's may differ: all machines judge leases and paces by their own."""
MADE_UP = timedelta(days=1)
"""A clock set back by no more than this is waited for at half speed; beyond it the new time is taken as it is."""
SLOWEST = 0.5
LONGEST_NAP = 5.0
"""Seconds after which a sleeper looks at the time again: it may have been set, or the machine been suspended."""


class ClockJump(msgspec.Struct, frozen=True):
    """Somebody set the machine's clock: by so much, and by so much our own time moved with it."""

    by: timedelta
    followed: timedelta


class ClockSkew(msgspec.Struct, frozen=True):
    """How far our time is ahead of the database's, in seconds, give or take what the answer took to come."""

    seconds: float
    give_or_take: float = 0.0

    @property
    def certain(self) -> timedelta:
        """How far the two certainly differ: an answer that took long proves no skew."""
        least = max(0.0, abs(self.seconds) - self.give_or_take)
        return timedelta(seconds=least if self.seconds > 0 else -least)

    @property
    def fault(self) -> str:
        """What is wrong in words, '' while the two certainly differ by no more than is allowed."""
        if abs(self.certain) <= MAX_SKEW:
            return ""
        side = "ahead of" if self.seconds > 0 else "behind"
        return (
            f"this machine's clock is {abs(self.seconds):.1f} s {side} the database's, and"
            f" {MAX_SKEW.total_seconds():g} s are allowed; set the clocks of all machines by NTP"
        )


def wall_time() -> datetime:
    """What the machine's clock shows, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - this is the clock


def steady_seconds() -> float:
    """Seconds that nobody can set; a suspended machine's count where Linux counts them."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)


async def nap(seconds: float) -> None:
    """Wait so long."""
    await asyncio.sleep(seconds)  # noqa: TID251 - this is the clock


class RealClock:
    """The time of this machine, counted on by a steady clock, so that setting the machine's stops no work.

    All that is stored is compared with this time: leases, paces, waits and slots. If it went back an hour, every host
    would rest and every slot be taken for an hour. So it goes at half speed until the machine's clock has caught up.
    A clock set forward is followed at once.
    """

    def __init__(
        self,
        wall: Callable[[], datetime] = wall_time,
        steady: Callable[[], float] = steady_seconds,
        sleep: Callable[[float], Awaitable[None]] = nap,
    ) -> None:
        """Begin at the machine's time."""
        self._wall = wall
        self._steady = steady
        self._sleep = sleep
        self._compared = (wall(), steady())
        self._base, self._since = self._compared
        self._speed = 1.0

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return self._base + timedelta(seconds=(self._steady() - self._since) * self._speed)

    async def sleep_until(self, moment: datetime) -> None:
        """Sleep until the moment."""
        while (left := (moment - self.now()).total_seconds()) > 0:
            await self._sleep(min(left, LONGEST_NAP))

    def compare(self) -> ClockJump | None:
        """Compare with the machine's clock, and follow it; answers by how much somebody has set it, if so."""
        own, wall, steady = self.now(), self._wall(), self._steady()
        shown, then = self._compared
        self._compared = wall, steady
        by = wall - shown - timedelta(seconds=steady - then)
        followed = self._follow(own, wall, steady)
        return ClockJump(by, followed) if abs(by) >= NOTICEABLE else None

    def catch_up(self, moment: datetime) -> ClockJump | None:
        """Begin no earlier than a moment that is known to have come; answers by how much we were behind, if at all."""
        behind = moment - self.now()
        if behind < BEHIND:
            return None
        followed = self._follow(moment, self._wall(), self._steady())
        return ClockJump(-behind, behind + followed)

    def _follow(self, own: datetime, wall: datetime, steady: float) -> timedelta:
        """Go on from our own time, slower if it is ahead; or from the machine's, if it is later or days back."""
        ahead = own - wall
        is_made_up = timedelta(0) < ahead <= MADE_UP
        self._base, self._since = own if is_made_up else wall, steady
        self._speed = max(SLOWEST, 1 - ahead / CHECKED_EVERY) if is_made_up else 1.0
        return self._base - own


def real_dice() -> random.Random:
    """Return a random generator for jitter; it is not for secrets."""
    return random.Random()  # noqa: S311 - jitter needs no cryptography
