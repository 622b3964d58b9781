"""Build what sends traces, from the settings."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tidemill import __version__
from tidemill.bootstrap.web import Telemetry
from tidemill.operations.mistakes import Mistake
from tidemill.services.otlp import OtlpExporter, is_installed
from tidemill.settings import Settings
from tidemill.telemetry.safe_listener import never_raising
from tidemill.telemetry.traces import TraceListener


@asynccontextmanager
async def sending_traces(settings: Settings, telemetry: Telemetry) -> AsyncIterator[None]:
    """Send what is announced as traces while entered, if there is an address for them."""
    if settings.traces_url is None:
        yield
        return
    if not is_installed():
        msg = "traces_url is set; install the extra: pip install 'tidemill[traces]'"
        raise Mistake(msg)
    headers = {name: each.get_secret_value() for name, each in settings.traces_headers.items()}
    exporter = OtlpExporter(
        settings.traces_url.get_secret_value(), headers, version=__version__, worker=settings.worker_name or ""
    )
    telemetry.listeners.add(never_raising(TraceListener(exporter.take).listen, telemetry.report_bug))
    try:
        yield
    finally:
        await asyncio.to_thread(exporter.close)
