"""A cached answer: asked for once, and shared by everyone who asks while it is fresh."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from tidemill.pipeline.ports import Clock

T = TypeVar("T")


class CachedAnswer(Generic[T]):
    """Asks again only when the last answer is older than `age`; a failure is not cached."""

    def __init__(self, ask: Callable[[], Awaitable[T]], clock: Clock, age: timedelta) -> None:
        """Ask nothing yet."""
        self._ask = ask
        self._clock = clock
        self._age = age
        self._lock = asyncio.Lock()
        self._answer: tuple[datetime, T] | None = None

    async def get(self) -> T:
        """Return the answer, at most `age` old."""
        async with self._lock:
            if self._answer is None or self._clock.now() - self._answer[0] > self._age:
                value = await self._ask()
                self._answer = (self._clock.now(), value)
            return self._answer[1]
