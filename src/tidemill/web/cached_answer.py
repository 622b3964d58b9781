"""A cached answer: asked for once, and shared by everyone who asks while it is fresh."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar, cast

from tidemill.pipeline.ports import Clock

T = TypeVar("T")
PROMPT_SECONDS = 0.25
"""What is answered within this is waited for."""
REST = 10
"""Counting that takes long is repeated after so many times as long: it costs no more than a tenth of a processor."""
LONGEST_LAG = timedelta(minutes=1)
"""What nobody asked for meanwhile may be older than it should by this and twice its rest; then it is waited for."""


class CachedAnswer(Generic[T]):
    """Asks again only when the last answer is older than `age`; a failure is not cached.

    One that `may_lag` is a count that takes long where there is much to count. Nobody waits for the next one then: the
    last is given while the next is being counted, and its age follows what it cost, within bounds.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[T]],
        clock: Clock,
        age: timedelta,
        *,
        may_lag: bool = False,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Ask nothing yet; `timer` tells how long asking takes."""
        self._may_lag = may_lag
        self._ask = ask
        self._clock = clock
        self._age = age
        self._timer = timer
        self._lock = asyncio.Lock()
        self._answer: tuple[datetime, T] | None = None
        self._took = 0.0
        self._asking: asyncio.Task[T] | None = None
        self._changes = 0

    @property
    def answered_at(self) -> datetime | None:
        """When the last answer was given; None before the first one."""
        return None if self._answer is None else self._answer[0]

    def forget(self) -> None:
        """Ask anew next time: somebody changed what was asked for, also for whoever is just asking."""
        self._answer = None
        self._changes += 1

    async def get(self) -> T:
        """Return the answer, at most `age` old, or the last one while a lengthy next one is being asked for."""
        last = self._usable_while_asking()
        if last is not None:
            if self._clock.now() - last[0] > max(self._age, timedelta(seconds=REST * self._took)):
                self._ask_meanwhile()
            return last[1]
        async with self._lock:
            if self._answer is None or self._clock.now() - self._answer[0] > self._age or not self._age:
                return await self._asked()
            return self._answer[1]

    async def get_within(self, seconds: float) -> T | None:
        """Return the answer; None when even the first one takes longer than that, while it is being asked for."""
        if self._answer is not None and (self._usable_while_asking() is not None or self._took <= PROMPT_SECONDS):
            return await self.get()
        self._ask_meanwhile()
        asking = cast("asyncio.Task[T]", self._asking)
        await asyncio.wait({asking}, timeout=seconds)
        return await asking if asking.done() else None

    def _usable_while_asking(self) -> tuple[datetime, T] | None:
        """The last answer, if the next would be long in coming and this one is not too old to be shown meanwhile."""
        if not self._may_lag or self._answer is None or self._took <= PROMPT_SECONDS:
            return None
        is_old = self._clock.now() - self._answer[0] > LONGEST_LAG + timedelta(seconds=2 * REST * self._took)
        return None if is_old else self._answer

    async def _asked(self) -> T:
        began, changes = self._timer(), self._changes
        value = await self._ask()
        self._took = self._timer() - began
        if changes == self._changes:
            self._answer = (self._clock.now(), value)
        return value

    def _ask_meanwhile(self) -> None:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._asked())
            self._asking.add_done_callback(self._drop_if_failed)

    def _drop_if_failed(self, asked: asyncio.Task[T]) -> None:
        """Let the next one who asks hear what went wrong."""
        if asked.cancelled() or asked.exception() is not None:
            self._answer = None
