"""Build what wakes workers: those of this process, and others over the broker where there is one."""

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from tidemill.bootstrap.store import Store
from tidemill.core.services.degradation import Service
from tidemill.engine.supervisor import Supervisor
from tidemill.settings import Settings
from tidemill.store.services.status import Services

if TYPE_CHECKING:
    from celery import Celery

NOT_INSTALLED = "`broker` is set, but Celery is not installed: pip install 'tidemill[celery]'"


class Wakeups(Protocol):
    """Wakes workers of other processes."""

    def wake(self) -> None:
        """Wake as many as the ready jobs need."""
        ...

    async def probe(self) -> str:
        """Return '' when wake-ups can be sent, else what is wrong."""
        ...

    async def close(self) -> None:
        """Send what is wanted, and end."""
        ...


class WorkerWaker:
    """Wakes the lanes of this process and, over the broker, other workers."""

    def __init__(self, supervisor: Supervisor, others: Wakeups | None) -> None:
        """`others` is None where there is no broker: then workers look for work by themselves."""
        self._supervisor = supervisor
        self._others = others

    def wake(self, workers: int) -> None:
        """Tell workers that there is work."""
        self._supervisor.wake(workers)
        if workers and self._others is not None:
            self._others.wake()

    async def close(self) -> None:
        """Send what is still to be sent."""
        if self._others is not None:
            await self._others.close()


class NoCelery:
    """Stands in where a broker is set up and Celery is not installed: the probe says so, and workers poll."""

    def wake(self) -> None:
        """Wake nobody."""

    async def probe(self) -> str:
        """Return what is wrong."""
        return NOT_INSTALLED

    async def close(self) -> None:
        """Close nothing."""


def build_wakeups(settings: Settings, store: Store, services: Services) -> Wakeups | None:
    """Build the wake-ups over the broker; None without one."""
    if settings.broker is None:
        return None
    wakeups = open_wakeups(settings.broker.get_secret_value(), settings, store, services)
    services.register_probe(Service.BROKER, wakeups.probe)
    return wakeups


def open_wakeups(broker: str, settings: Settings, store: Store, services: Services) -> Wakeups:
    """Open the wake-ups, without asking the broker for anything yet."""
    try:
        from tidemill.engine.celery.app import make_app  # noqa: PLC0415 - an extra
        from tidemill.engine.celery.wakeups import BrokerWakeups  # noqa: PLC0415
    except ImportError:
        return NoCelery()
    app: Celery = make_app(broker)

    async def report(trouble: str) -> None:
        if trouble:
            await services.degraded(Service.BROKER, trouble)
        else:
            await services.works(Service.BROKER)

    return BrokerWakeups(
        app,
        store.agenda.ready_by_lane,
        report,
        jobs_per_worker=settings.workers_per_jobs,
        most=settings.workers_most,
        expires=timedelta(seconds=settings.look_again_seconds),
    )
