"""What one process of many says of itself: its telemetry, and where it answers without the web app."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from tidemill import __version__
from tidemill.bootstrap.engine.workers import taken_lanes
from tidemill.bootstrap.web import Telemetry
from tidemill.engine.supervisor import default_name
from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings
from tidemill.telemetry.logs import log_listener, make_logger
from tidemill.web.limits import is_loopback
from tidemill.web.listening import CannotListen
from tidemill.web.process_app import process_app
from tidemill.web.serve import serve

EXPOSED = "metrics_port is reached from elsewhere (web_host is {host}): set watch_token, or let it listen on 127.0.0.1"


def process_telemetry(settings: Settings) -> Telemetry:
    """Return the listeners of a process; each line of its log carries the name of its worker."""
    logger = make_logger(settings.log_level, settings.log_format).bind(worker=worker_name(settings))
    return Telemetry(
        lambda words, error: logger.error(words, error=str(error)),
        log_listener(logger, settings.log_level),
        metrics_sources=settings.metrics_sources,
        identity=identity(settings),
    )


def worker_name(settings: Settings) -> str:
    """Return what this process is called in logs, in the list of workers and in its metrics."""
    return settings.worker_name or default_name()


def identity(settings: Settings) -> Mapping[str, str]:
    """Return what this process is, for its metrics."""
    lanes = " ".join(taken_lanes(settings))
    return {"worker": worker_name(settings), "roles": " ".join(settings.roles), "lanes": lanes}


@asynccontextmanager
async def answering(settings: Settings, telemetry: Telemetry) -> AsyncIterator[str]:
    """Answer `/metrics` and `/alive` on `metrics_port` while entered; yield the address, '' if none is set."""
    if settings.metrics_port is None:
        yield ""
        return
    token = settings.watch_token.get_secret_value() if settings.watch_token is not None else None
    if token is None and not is_loopback(settings.web_host):
        raise Mistake(EXPOSED.format(host=settings.web_host))

    def state() -> Mapping[str, Any]:
        return {"alive": True, "version": __version__, **identity(settings)}

    app = process_app(telemetry.metrics, state, token)
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve(app, settings.web_host, settings.metrics_port, ready=address.set_result), name="metrics"
    )
    try:
        waiting: list[asyncio.Future[Any]] = [serving, address]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            serving.result()
        yield address.result()
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError, CannotListen):
            await serving
