"""Time limits for many requests at a time, on few timers: those that end in the same tenth of a second share one.

A timer for every request cost more than sending it. A limit is never cut short, and ends a tenth of a second late at
the most.
"""

import asyncio
from math import ceil
from types import TracebackType

STEPS_PER_SECOND = 10


class Limit:
    """A block of work that is stopped with a TimeoutError when its time is up, as by `asyncio.timeout`."""

    __slots__ = ("_cancelling", "_fellows", "_is_over", "_task")

    def __init__(self, fellows: "set[Limit]") -> None:
        """Made by `Deadlines.within`; `fellows` are all limits that end with this one."""
        self._fellows = fellows
        self._is_over = False

    def __enter__(self) -> None:
        """Begin; the time of the task that is here counts from now."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine always runs in one
        self._task, self._cancelling = task, task.cancelling()
        self._fellows.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tell a time that was up from a cancellation that somebody else asked for: theirs goes on as it is."""
        self._fellows.discard(self)
        if self._is_over and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def end(self) -> None:
        """The time is up."""
        self._is_over = True
        self._task.cancel()


class Deadlines:
    """Every limit under way, by the moment at which it ends."""

    def __init__(self) -> None:
        """Nothing is timed yet."""
        self._ending: dict[int, set[Limit]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def within(self, seconds: float) -> Limit:
        """A limit of so many seconds, for a `with` block."""
        loop = asyncio.get_running_loop()
        step = ceil((loop.time() + seconds) * STEPS_PER_SECOND)
        fellows = self._ending.get(step)
        if fellows is None:
            fellows = self._ending[step] = set()
            self._timers[step] = loop.call_at(step / STEPS_PER_SECOND, self._end, step)
        return Limit(fellows)

    def close(self) -> None:
        """Stop every timer; whoever is still at work is no longer limited."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._ending.clear()

    def _end(self, step: int) -> None:
        del self._timers[step]
        for limit in self._ending.pop(step):
            limit.end()
