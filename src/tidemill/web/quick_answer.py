"""An answer that is there in time: by the last one, while the next one is being asked for."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from tidemill.pipeline.ports import Clock

T = TypeVar("T")


class QuickAnswer(Generic[T]):
    """Is there within `patience` by the last answer if need be, which is less than `oldest` old then.

    An answer is new for `age`. Without a patience a newer one is waited for.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[T]],
        clock: Clock,
        age: timedelta,
        *,
        patience: timedelta | None,
        oldest: timedelta,
    ) -> None:
        """Ask nothing yet."""
        self._ask = ask
        self._clock = clock
        self._age = age
        self._patience = patience
        self._oldest = oldest
        self._last: tuple[datetime, T] | None = None
        self._asking: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the newest answer that can be had in time."""
        last = self._last
        age = self._oldest if last is None else self._clock.now() - last[0]
        if last is not None and age <= self._age:
            return last[1]
        asking = self._asking
        if asking is None or asking.done():
            asking = self._asking = asyncio.ensure_future(self._asked())
            asking.add_done_callback(_heard)
        if last is not None and self._patience is not None and age < self._oldest:
            await asyncio.wait({asking}, timeout=self._patience.total_seconds())
            if not asking.done():
                return last[1]
        return await asyncio.shield(asking)

    async def _asked(self) -> T:
        value = await self._ask()
        self._last = (self._clock.now(), value)
        return value


def _heard(asking: asyncio.Task[T]) -> None:
    """Take note of a failure that nobody waited for; whoever asks next asks anew."""
    if not asking.cancelled():
        asking.exception()
