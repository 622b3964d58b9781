"""Time limits for many requests at a time, on few timers: those that end in the same tenth of a second share one.

A timer for every request cost more than sending it. A limit is never cut short, and ends a tenth of a second late at
the most.
"""

import asyncio
from math import ceil
from types import TracebackType

STEPS_PER_SECOND = 10


class TimeLimit:
    """Stops a block of work with a TimeoutError when its time is up, as `asyncio.timeout` does."""

    __slots__ = ("_cancel_count", "_is_expired", "_same_step", "_task")

    def __init__(self, same_step: "set[TimeLimit]") -> None:
        """Made by `Deadlines.within`; `same_step` holds all limits that expire together."""
        self._same_step = same_step
        self._is_expired = False

    def __enter__(self) -> None:
        """Start the limit for the current task."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine always runs in one
        self._task, self._cancel_count = task, task.cancelling()
        self._same_step.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise TimeoutError if the time was up; a cancellation that somebody else asked for is passed on."""
        self._same_step.discard(self)
        if self._is_expired and self._task.uncancel() <= self._cancel_count and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        """Cancel the task: its time is up."""
        self._is_expired = True
        self._task.cancel()


class Deadlines:
    """All running time limits, by the tenth of a second at which they expire."""

    def __init__(self) -> None:
        """Start without limits."""
        self._limits: dict[int, set[TimeLimit]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def within(self, seconds: float) -> TimeLimit:
        """Return a limit of so many seconds, for a `with` block."""
        loop = asyncio.get_running_loop()
        step = ceil((loop.time() + seconds) * STEPS_PER_SECOND)
        same_step = self._limits.get(step)
        if same_step is None:
            same_step = self._limits[step] = set()
            self._timers[step] = loop.call_at(step / STEPS_PER_SECOND, self._expire, step)
        return TimeLimit(same_step)

    def close(self) -> None:
        """Stop every timer; running blocks are no longer limited."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._limits.clear()

    def _expire(self, step: int) -> None:
        del self._timers[step]
        for limit in self._limits.pop(step):
            limit.expire()
