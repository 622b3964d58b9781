"""Build the Celery app: the same system as in one process, started by Celery's workers and beat."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

from celery import Celery

from tidemill.bootstrap.cluster.clocks import refuse_wrong_clock
from tidemill.bootstrap.cluster.database_wait import wait_for_database
from tidemill.bootstrap.cluster.process_metrics import answering, process_telemetry, worker_name
from tidemill.bootstrap.migrations import require_current
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.bootstrap.run_ends import following_run_ends
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.watching.traces import sending_traces
from tidemill.engine.celery.app import make_app
from tidemill.engine.celery.tasks import CeleryEngine, add_inspection
from tidemill.engine.periodic import Chore
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import StoreError
from tidemill.settings import BadSettings, Settings, load_settings
from tidemill.store.database.migrate import current
from tidemill.telemetry.logs import make_logger
from tidemill.web.listening import CannotListen

TOLD = (Mistake, StoreError, BadSettings, CannotListen)
"""What a person is told in words, without a stack."""
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
    line = f"[%(asctime)s: %(levelname)s/{worker_name(settings)}] "
    app.conf.update(
        worker_log_format=f"{line}%(message)s",
        worker_task_log_format=f"{line}%(task_name)s[%(task_id)s]: %(message)s",
    )
    named = [task for plugin in PLUGINS.values() for task in plugin.tasks]
    engine = CeleryEngine(
        app,
        lambda: opened(settings),
        lambda: chores_of(settings),
        named,
        TOLD,
    )
    add_inspection(engine)
    return app


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[System]:
    """Open the system of a worker, once its database answers with the tables of this version."""
    logger = make_logger(settings.log_level, settings.log_format).bind(worker=worker_name(settings))
    telemetry = process_telemetry(settings)
    announce = telemetry.listeners
    late = timedelta(seconds=settings.look_again_seconds)
    system = build(settings, announce=announce, chores_after=late, has_chores="ticks" in settings.roles)
    try:
        longest = timedelta(seconds=settings.database_wait_seconds)
        database = system.store.database
        if await wait_for_database(lambda: current(database), longest, system.clock, logger.warning):
            system.worker.spare_others()
        await require_current(database)
        await refuse_wrong_clock(database, system.clock)
        async with (
            sending_traces(settings, telemetry),
            following_run_ends(announce, system.clock, system.parts.values()),
            answering(settings, telemetry) as address,
        ):
            if address:
                logger.info("answers", metrics=f"{address}/metrics")
            yield system
    finally:
        await system.close()


def chores_of(settings: Settings) -> Iterable[Chore]:
    """Return the periodic work of this installation; nothing is asked of its database."""
    return build(settings).ticks.chores.values()
