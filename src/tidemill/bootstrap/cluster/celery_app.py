"""Build the Celery app: the same system as in one process, started by Celery's workers and beat."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

from celery import Celery

from tidemill.bootstrap.cluster.database_wait import wait_for_database
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.migrations import require_current
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.bootstrap.run_ends import following_run_ends
from tidemill.bootstrap.system import System, build
from tidemill.engine.celery.app import make_app
from tidemill.engine.celery.tasks import CeleryEngine, add_inspection
from tidemill.engine.periodic import Chore
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import StoreError
from tidemill.settings import BadSettings, Settings, load_settings
from tidemill.store.database.migrate import current
from tidemill.telemetry.logs import log_listener, make_logger

NEEDS_POSTGRES = "the Celery engine needs PostgreSQL: set `database` to postgresql://USER:PASSWORD@HOST/NAME"
NEEDS_BROKER = "the Celery engine needs a broker: set `broker` to redis://HOST:6379/1 or amqp://USER:PASSWORD@HOST//"


def app_of_environment() -> Celery:
    """Return the app on the settings of this process; what keeps it from working ends the process with words."""
    try:
        return celery_app(load_settings())
    except (BadSettings, Mistake) as mistake:
        raise SystemExit(str(mistake)) from mistake


def celery_app(settings: Settings) -> Celery:
    """Return an app whose workers and beat work on these settings."""
    if settings.database.get_secret_value().startswith("sqlite"):
        raise Mistake(NEEDS_POSTGRES)
    if settings.broker is None:
        raise Mistake(NEEDS_BROKER)
    app = make_app(settings.broker.get_secret_value())
    named = [task for plugin in PLUGINS.values() for task in plugin.tasks]
    engine = CeleryEngine(
        app, lambda: opened(settings), lambda: chores_of(settings), named, (Mistake, StoreError, BadSettings)
    )
    add_inspection(engine)
    return app


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[System]:
    """Open the system of a worker, once its database answers with the tables of this version."""
    logger = make_logger(settings.log_level, settings.log_format)
    if settings.worker_name is not None:
        logger = logger.bind(worker=settings.worker_name)
    announce = Listeners(log_listener(logger, settings.log_level))
    late = timedelta(seconds=settings.look_again_seconds)
    system = build(settings, announce=announce, chores_after=late)
    try:
        longest = timedelta(seconds=settings.database_wait_seconds)
        database = system.store.database
        if await wait_for_database(lambda: current(database), longest, system.clock, logger.warning):
            system.worker.spare_others()
        await require_current(database)
        async with following_run_ends(announce, system.clock, system.parts.values()):
            yield system
    finally:
        await system.close()


def chores_of(settings: Settings) -> Iterable[Chore]:
    """Return the periodic work of this installation; nothing is asked of its database."""
    return build(settings).ticks.chores.values()
