"""The tasks that Celery knows, and when a Celery process starts and stops its engine."""

from collections.abc import Callable, Iterable
from typing import Any

from celery import Celery, signals
from celery.worker.control import inspect_command

from tidemill.engine.celery.app import DRAIN, MAINTENANCE, REST, SCRAPING, TICK
from tidemill.engine.celery.loop_thread import LoopThread, OpenWorker
from tidemill.engine.celery.slots import beat_schedule
from tidemill.engine.periodic import Chore

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
        """`named` are tasks that a worker has besides drains and ticks; `mistakes` are told without a stack."""
        self._app = app
        self._mistakes = mistakes
        self._chores = chores
        self._make = lambda: LoopThread(open_worker)
        self._engine: LoopThread | None = None
        self._add_tasks(named)
        signals.worker_init.connect(self._start, weak=False)
        signals.worker_shutting_down.connect(self._stop_claiming, weak=False)
        signals.worker_shutdown.connect(self._join, weak=False)
        signals.beat_init.connect(self._plan, weak=False)
        signals.beat_embedded_init.connect(self._plan, weak=False)

    def _add_tasks(self, named: Iterable[str]) -> None:
        self._task(DRAIN, SCRAPING, self._drain)
        self._task(TICK, MAINTENANCE, self._tick)
        for name, chore in CHORE_TASKS.items():
            self._task(name, MAINTENANCE, self._chore_task(chore))
        for name in named:
            self._task(name, REST, self._named_task(name))

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
        self._app.task(function, name=name, ignore_result=True, shared=False, lazy=False)

    def _start(self, sender: Any, **_: Any) -> None:
        """Open the system before the broker is asked for anything: a worker works without one, only slower."""
        pool = sender.pool_cls if isinstance(sender.pool_cls, str) else sender.pool_cls.__module__
        if not pool.startswith(POOLS) and pool not in {"threads", "solo"}:
            msg = "Tidemill keeps one event loop and one database per process: start the worker with -P threads"
            raise SystemExit(msg)
        self._engine = self._make()
        try:
            self._engine.start()
        except self._mistakes as mistake:
            raise SystemExit(str(mistake)) from mistake

    def _stop_claiming(self, **_: Any) -> None:
        if self._engine is not None:
            self._engine.stop_claiming()

    def _join(self, **_: Any) -> None:
        if self._engine is not None:
            self._engine.join()

    def _plan(self, **_: Any) -> None:
        self._app.conf.beat_schedule = beat_schedule(self._chores(), self._app)

    def _running(self) -> LoopThread:
        if self._engine is None:
            msg = "this task runs in a worker only: send it with .delay()"
            raise RuntimeError(msg)
        return self._engine

    def _drain(self, lane: str) -> str:
        """Have this worker look for jobs of a lane; a message too many costs an empty claim."""
        self._running().wake(lane)
        return "woken"

    def _tick(self, name: str) -> str:
        """Do a chore for its current slot, unless somebody has."""
        return self._running().call(lambda worker: worker.ticks.tick(name))

    def lanes(self) -> list[str]:
        """Return the lanes that this worker runs."""
        worker = None if self._engine is None else self._engine.worker
        return [] if worker is None else list(worker.supervisor.lanes)


def add_inspection(engine: CeleryEngine) -> None:
    """Let `celery inspect lanes` tell which lanes each worker runs."""

    def lanes(_state: Any, **_: Any) -> dict[str, list[str]]:
        """The lanes that this worker runs."""
        return {"lanes": engine.lanes()}

    inspect_command()(lanes)
