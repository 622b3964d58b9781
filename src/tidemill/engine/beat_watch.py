"""Notices that no beat is heard: workers find themselves doing what it should have sent."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from tidemill.pipeline.ports import Clock

MOST_UNSENT = 3
"""A message may be late; after so many chores that nobody sent, beat is taken to be away."""

Report = Callable[[str], Awaitable[None]]


class BeatWatch:
    """Counts the chores that this worker did unasked since a message of beat came."""

    def __init__(self, clock: Clock, report: Report, patience: timedelta) -> None:
        """`report` is told '' or what is wrong, the latter after `patience` at the earliest."""
        self._clock = clock
        self._report = report
        self._patience = patience
        self._heard_at: datetime | None = None
        self._began_at = clock.now()
        self._unsent = 0

    async def heard(self) -> None:
        """Note that a message of beat came."""
        self._heard_at = self._clock.now()
        self._unsent = 0
        await self._report("")

    async def did_unasked(self) -> None:
        """Note that a chore was done here because nobody had sent it."""
        self._unsent += 1
        if trouble := await self.probe():
            await self._report(trouble)

    async def probe(self) -> str:
        """Return '' while beat is heard or not missed, else what is wrong."""
        last = self._heard_at or self._began_at
        if self._unsent < MOST_UNSENT or self._clock.now() - last < self._patience:
            return ""
        return f"no beat has been heard since {last:%Y-%m-%d %H:%M:%S} UTC"
