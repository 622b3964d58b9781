"""The real clock and random numbers: the only code that reads either."""

import asyncio
import random
from datetime import UTC, datetime


class RealClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the clock

    async def sleep_until(self, moment: datetime) -> None:
        """Sleep until the moment."""
        delay = (moment - self.now()).total_seconds()
        if delay > 0:
            await asyncio.sleep(delay)  # noqa: TID251 - this is the clock


def real_dice() -> random.Random:
    """Return a random generator for jitter; it is not for secrets."""
    return random.Random()  # noqa: S311 - jitter needs no cryptography
