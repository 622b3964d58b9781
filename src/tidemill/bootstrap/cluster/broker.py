"""Build what wakes workers: those of this process, and others over the broker or through the database."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

from tidemill.bootstrap.store import Store
from tidemill.core.services.degradation import Service
from tidemill.engine.supervisor import Supervisor
from tidemill.engine.wakeups import NotifiedWakeups
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.database.notifications import hear_forever, notify
from tidemill.store.services.status import Services

if TYPE_CHECKING:
    from celery import Celery

CHANNEL = "tidemill_ready"
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


class BothWakeups:
    """Wakes workers of Celery over the broker, and `tidemill up` beside them through the database."""

    def __init__(self, broker: Wakeups, database: Wakeups) -> None:
        """Only the broker can be away by itself."""
        self._broker = broker
        self._database = database

    def wake(self) -> None:
        """Wake both kinds."""
        self._broker.wake()
        self._database.wake()

    async def probe(self) -> str:
        """Return what is wrong with the broker."""
        return await self._broker.probe()

    async def close(self) -> None:
        """Send what is wanted, and end."""
        await self._broker.close()
        await self._database.close()


class WorkerWaker:
    """Wakes the lanes of this process, and workers of others."""

    def __init__(self, supervisor: Supervisor, others: Wakeups | None) -> None:
        """`others` is None where there is no way to reach any: then workers look for work by themselves."""
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
    """Build the wake-ups through PostgreSQL, and over the broker where there is one; None if there is neither."""
    heard = None
    if store.database.notifies:
        heard = NotifiedWakeups(store.agenda.ready_by_lane, partial(notify, store.database, CHANNEL))
    if settings.broker is None:
        return heard
    wakeups = open_wakeups(settings.broker.get_secret_value(), settings, store, services)
    services.register_probe(Service.BROKER, wakeups.probe, always=True)
    return wakeups if heard is None else BothWakeups(wakeups, heard)


def wakeups_heard(database: Database) -> Callable[[Callable[[str], None]], Awaitable[None]] | None:
    """Return what hears the wake-ups that come through the database; None where nothing can be heard."""
    return partial(hear_forever, database, CHANNEL) if database.notifies else None


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
