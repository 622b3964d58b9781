"""Virtual time: an event loop that never waits, but jumps to the moment at which something happens next.

Everything that runs on it must be woken by a timer, a future or a callback: no thread, no socket. Two runs of the
same program then do the same things in the same order, and a month passes as fast as its work can be done.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from datetime import datetime, timedelta
from typing import Any, TypeVar, TypeVarTuple

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

# Timers this close to the present have come. Wide enough that years of seconds, as floats, cannot lose it.
_RESOLUTION = 1e-6
_TASKS_TOLD = 5


class Deadlock(RuntimeError):
    """Everything waits, and nothing is left that could wake anything."""


class _JumpingSelector(selectors.BaseSelector):
    """Answers at once: with what is ready, or with nothing after moving the loop's time on to its next timer."""

    def __init__(self) -> None:
        self._real = selectors.DefaultSelector()
        self.jump: Callable[[], None] = lambda: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout == 0:
            return []
        ready = self._real.select(0)
        if ready:
            return ready
        if timeout is None:
            raise Deadlock(_who_waits())
        self.jump()
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time starts at 0 and stands still while anything is left to do."""

    def __init__(self) -> None:
        """Start at time 0."""
        self._moment = 0.0
        selector = _JumpingSelector()
        selector.jump = self._to_next_timer
        super().__init__(selector)
        self._clock_resolution = _RESOLUTION

    def time(self) -> float:
        """Seconds since the loop began."""
        return self._moment

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Arguments], Result], *args: *Arguments
    ) -> asyncio.Future[Result]:
        """Run the function here and now: a thread would finish whenever the machine pleased."""
        del executor
        future: asyncio.Future[Result] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 -- whatever it is belongs to whoever awaits the future
            future.set_exception(error)
        return future

    def _to_next_timer(self) -> None:
        """Go to the next timer's own moment: adding the time left instead would miss it by a rounding, for ever."""
        self._moment = max(self._moment, self._scheduled[0].when())  # type: ignore[attr-defined]


class VirtualClock:
    """The time of a virtual loop, counted from `epoch` (UTC)."""

    def __init__(self, loop: asyncio.AbstractEventLoop, epoch: datetime) -> None:
        """The loop's present is `epoch` plus its own time."""
        self._loop = loop
        self._epoch = epoch
        self._last = (0.0, epoch)

    def now(self) -> datetime:
        """The present moment, in UTC; it is asked for many times before it passes."""
        time = self._loop.time()
        if time != self._last[0]:
            self._last = (time, self._epoch + timedelta(seconds=time))
        return self._last[1]

    async def sleep_until(self, moment: datetime) -> None:
        """Return once `moment` has come; at once if it has passed, but others get their turn first."""
        woken: asyncio.Future[None] = self._loop.create_future()
        timer = self._loop.call_at((moment - self._epoch).total_seconds(), _wake, woken)
        try:
            await woken
        finally:
            timer.cancel()


def run_virtual(main: Callable[[VirtualClock], Coroutine[Any, Any, Result]], epoch: datetime) -> Result:
    """Run `main` to its end in virtual time that begins at `epoch`; raises `Deadlock` when nothing can go on."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main(VirtualClock(runner.get_loop(), epoch)))


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _who_waits() -> str:
    tasks = sorted(f"{task.get_name()} ({_where(task)})" for task in asyncio.all_tasks())
    more = f" and {len(tasks) - _TASKS_TOLD} more" if len(tasks) > _TASKS_TOLD else ""
    return f"everything waits and no timer is set: {', '.join(tasks[:_TASKS_TOLD])}{more}"


def _where(task: "asyncio.Task[Any]") -> str:
    """The place in the task's own code at which it waits."""
    frames = task.get_stack(limit=1)
    if not frames:
        return "not started"
    code = frames[-1].f_code
    return f"{code.co_qualname}, line {frames[-1].f_lineno}"
