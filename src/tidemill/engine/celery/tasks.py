"""The tasks that Celery knows, and when a Celery process starts and stops its engine."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable
from typing import Any

from celery import Celery, signals
from celery.utils.functional import lazy
from celery.utils.log import get_logger
from celery.worker import state
from celery.worker.control import inspect_command

from tidemill.engine.celery.app import DRAIN, MAINTENANCE, REST, SCRAPING, TICK, queue_of
from tidemill.engine.celery.loop_thread import LoopThread, OpenWorker, RunningWorker
from tidemill.engine.celery.slots import beat_schedule
from tidemill.engine.periodic import Chore

logger = get_logger(__name__)

LEAVE_SECONDS = 10.0
"""Within this Celery has left its broker, once the work is done."""
POOLS = ("celery.concurrency.thread", "celery.concurrency.solo")
"""Pools whose tasks run in the process that holds the database open."""

CHORE_TASKS = {"dispatch_scrapes": "dispatch", "cleanup_maintenance": "maintenance"}
"""Chores under the names that teams with a pipeline on Celery know."""


class CeleryEngine:
    """Gives an app its tasks, and a worker process its engine."""

    def __init__(
        self,
        app: Celery,
        open_worker: OpenWorker,
        chores: Callable[[], Iterable[Chore]],
        named: Iterable[str],
        mistakes: tuple[type[Exception], ...],
    ) -> None:
        """`chores` is asked when beat makes its schedule, and in its process only.

        `named` are tasks that a worker has besides drains and ticks; `mistakes` are told without a stack.
        """
        self._app = app
        self._mistakes = mistakes
        self._make = lambda: LoopThread(open_worker)
        self._engine: LoopThread | None = None
        self._add_tasks(named)
        signals.worker_init.connect(self._start, weak=False)
        signals.celeryd_after_setup.connect(self._take_queues_of_lanes, weak=False)
        signals.worker_shutting_down.connect(self._stop_claiming, weak=False)
        signals.worker_shutdown.connect(self._join, weak=False)
        app.conf.beat_schedule = lazy(lambda: beat_schedule(chores(), app))

    def _add_tasks(self, named: Iterable[str]) -> None:
        self._task(DRAIN, SCRAPING, self._drain_task())
        self._task(TICK, MAINTENANCE, self._tick_task())
        for name, chore in CHORE_TASKS.items():
            self._task(name, MAINTENANCE, self._chore_task(chore))
        for name in named:
            self._task(name, REST, self._named_task(name))

    # Functions, not methods: Celery holds what is sent against a task's arguments, and would count `self` among them.

    def _drain_task(self) -> Callable[..., str]:
        def drain(lane: str) -> str:
            """Have this worker look for jobs of a lane; a message too many costs an empty claim."""
            self._running().wake(str(lane))
            return "woken"

        return drain

    def _tick_task(self) -> Callable[..., str]:
        def tick(name: str) -> str:
            """Do a chore for its current slot, unless somebody has."""
            return self._running().call(lambda worker: tick_as_sent(worker, name))

        return tick

    def _chore_task(self, chore: str) -> Callable[..., str]:
        def run_chore() -> str:
            return self._running().call(lambda worker: worker.ticks.run_now(chore))

        return run_chore

    def _named_task(self, name: str) -> Callable[..., str]:
        def run_task(*words: Any) -> str:
            return self._running().call(lambda worker: worker.tasks[name](*words))

        return run_task

    def _task(self, name: str, queue: str, function: Callable[..., str]) -> None:
        self._app.conf.task_routes = {**(self._app.conf.task_routes or {}), name: {"queue": queue}}
        self._app.task(function, name=name, ignore_result=True, shared=False, lazy=False, throws=self._mistakes)

    def _start(self, sender: Any, **_: Any) -> None:
        """Open the system before the broker is asked for anything: a worker works without one, only slower."""
        pool = sender.pool_cls if isinstance(sender.pool_cls, str) else sender.pool_cls.__module__
        if not pool.startswith(POOLS) and pool not in {"threads", "solo"}:
            msg = "Tidemill keeps one event loop and one database per process: start the worker with -P threads"
            raise SystemExit(msg)
        self._engine = self._make()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._stop_early)
        try:
            self._engine.start()
        except self._mistakes as mistake:
            raise SystemExit(str(mistake)) from mistake

    def _stop_early(self, *_: Any) -> None:
        """Stop in good order although Celery, which is still starting, does not listen for signals yet."""
        state.should_stop = 0  # what its own handler sets: the worker ends as soon as it is up
        self._stop_claiming()

    def _take_queues_of_lanes(self, instance: Any, **_: Any) -> None:
        """Take wake-ups for the lanes that this worker runs and for no others, if it takes any."""
        queues = instance.app.amqp.queues
        if SCRAPING not in queues.consume_from:
            return
        wanted = {queue_of(lane) for lane in self.lanes()}
        for name in wanted - {SCRAPING}:
            queues.select_add(name)
        if SCRAPING not in wanted:
            queues.deselect(SCRAPING)

    def _stop_claiming(self, **_: Any) -> None:
        if self._engine is not None:
            self._engine.stop_claiming()
            threading.Thread(target=leave_anyway, args=(self._engine,), name="leaves anyway", daemon=True).start()

    def _join(self, **_: Any) -> None:
        if self._engine is not None:
            self._engine.join()

    def _running(self) -> LoopThread:
        if self._engine is None:
            msg = "this task runs in a worker only: send it with .delay()"
            raise RuntimeError(msg)
        return self._engine

    def lanes(self) -> list[str]:
        """Return the lanes that this worker runs."""
        worker = None if self._engine is None else self._engine.worker
        return [] if worker is None else list(worker.supervisor.lanes)


def leave_anyway(engine: LoopThread, seconds: float = LEAVE_SECONDS) -> None:
    """End the process once its engine has ended, though Celery may wait for a broker that answers nobody."""
    engine.join()
    threading.Event().wait(seconds)  # the process ends meanwhile, and this thread with it
    logger.warning("the broker does not answer; left without telling it")
    logging.shutdown()
    os._exit(0)


async def tick_as_sent(worker: RunningWorker, name: object) -> str:
    """Do a chore that beat has sent, if this version has it, and note that beat was heard."""
    if worker.beat is not None:
        await worker.beat.heard()
    if not isinstance(name, str) or name not in worker.ticks.chores:
        return "unknown"  # a beat of another version, or somebody's own message
    return await worker.ticks.tick(name)


def add_inspection(engine: CeleryEngine) -> None:
    """Let `celery inspect lanes` tell which lanes each worker runs."""

    def lanes(_state: Any, **_: Any) -> dict[str, list[str]]:
        """The lanes that this worker runs."""
        return {"lanes": engine.lanes()}

    inspect_command()(lanes)
