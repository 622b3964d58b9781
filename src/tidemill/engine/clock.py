"""The real clock and the real dice: the only place where Tidemill meets time and chance."""

import asyncio
import random
from datetime import UTC, datetime


class RealClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the clock

    async def sleep_until(self, moment: datetime) -> None:
        """Wait until the moment has come."""
        delay = (moment - self.now()).total_seconds()
        if delay > 0:
            await asyncio.sleep(delay)  # noqa: TID251 - this is the clock


def real_dice() -> random.Random:
    """Chance, for jitter: nothing secret depends on it."""
    return random.Random()  # noqa: S311 - jitter needs no cryptography
