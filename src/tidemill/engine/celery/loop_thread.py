"""One event loop per process, in a thread beside Celery's own: the engine runs there, and tasks call into it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from tidemill.engine.beat_watch import BeatWatch
from tidemill.engine.interpreter import tune_interpreter
from tidemill.engine.periodic import ChoreRunner
from tidemill.engine.supervisor import Supervisor

Result = TypeVar("Result")
NamedTask = Callable[..., Coroutine[Any, Any, str]]

STOP_SECONDS = 30.0
"""After this time the jobs in hand are handed back, even if they are not finished."""


class RunningWorker(Protocol):
    """As much of the running system as tasks need."""

    @property
    def supervisor(self) -> Supervisor:
        """Runs the lanes."""
        ...

    @property
    def ticks(self) -> ChoreRunner:
        """Runs the chores."""
        ...

    @property
    def beat(self) -> BeatWatch | None:
        """Notes whether beat is heard."""
        ...

    @property
    def tasks(self) -> Mapping[str, NamedTask]:
        """What a person can have done by name."""
        ...


OpenWorker = Callable[[], AbstractAsyncContextManager[RunningWorker]]


class NotRunning(RuntimeError):
    """The engine of this process has not started, or has ended."""


class LoopThread:
    """Runs one worker on an event loop of its own until it is stopped."""

    def __init__(self, open_worker: OpenWorker) -> None:
        """Not started; `open_worker` opens the system on the loop and closes it there."""
        self._open = open_worker
        self._opened: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self.worker: RunningWorker | None = None
        self._thread = threading.Thread(target=self._run, name="tidemill engine", daemon=True)

    def start(self) -> None:
        """Start, and return once the system is open; raise what kept it from opening."""
        self._thread.start()
        self._opened.result()

    def call(self, make: Callable[[RunningWorker], Coroutine[Any, Any, Result]]) -> Result:
        """Run a coroutine on the loop and return its result; the calling thread waits."""
        if self._loop is None or self.worker is None:
            raise NotRunning
        return asyncio.run_coroutine_threadsafe(make(self.worker), self._loop).result()

    def wake(self, lane: str) -> None:
        """Have a lane look for work now."""
        if self._loop is None or self.worker is None:
            raise NotRunning
        self._loop.call_soon_threadsafe(self.worker.supervisor.wake_lane, lane)

    def stop_claiming(self) -> None:
        """Finish what is in hand and take nothing more."""
        if self._loop is not None and self.worker is not None:
            self._loop.call_soon_threadsafe(self.worker.supervisor.stop)

    def join(self, seconds: float = STOP_SECONDS) -> None:
        """Stop, and wait for the end; what is not finished in time is handed back."""
        self.stop_claiming()
        self._thread.join(seconds)
        if self._thread.is_alive() and self._loop is not None and self._work is not None:
            self._loop.call_soon_threadsafe(self._work.cancel)
            self._thread.join(seconds)

    def _run(self) -> None:
        tune_interpreter()
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        try:
            async with self._open() as worker:
                self._loop, self.worker = asyncio.get_running_loop(), worker
                self._work = asyncio.create_task(worker.supervisor.run(), name="supervisor")
                self._opened.set_result(None)
                await asyncio.wait([self._work])
        except BaseException as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)
        finally:
            self.worker = None


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's, where it is installed."""
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop
