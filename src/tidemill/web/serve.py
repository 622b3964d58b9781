"""Runs the web app inside our own event loop, beside the engine."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from tidemill.web.limits import ServerLimits, limited_protocol
from tidemill.web.listening import address_of, listen

NO_PROXIES = ServerLimits()
GRACE_SECONDS = 3
"""How long open requests may take to finish when the server stops."""


class InLoopServer(uvicorn.Server):
    """A server that leaves signals to the engine, and reports when it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        """`listening` is called once the server accepts requests."""
        super().__init__(config)
        self._listening = listening

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals: the engine drains at the first Ctrl-C and stops at the second."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, and report it."""
        await super().startup(sockets)
        self._listening()


def do_nothing() -> None:
    """Do nothing."""


async def serve(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    ready: Callable[[str], None],
    stopping: Callable[[], None] = do_nothing,
    limits: ServerLimits = NO_PROXIES,
) -> None:
    """Serve until cancelled; then finish open requests and return.

    `ready` is told the address once we listen; with port 0 it holds the port that was picked. `stopping` is called
    before the server waits for open requests, so that those without an end can end.
    """
    listener = listen(host, port)
    config = uvicorn.Config(
        app, lifespan="off", ws="none", log_config=None, access_log=False, server_header=False,
        proxy_headers=bool(limits.trusted_proxies), forwarded_allow_ips=list(limits.trusted_proxies),
        http=limited_protocol(limits), timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )  # fmt: skip
    server = InLoopServer(config, lambda: ready(address_of(listener)))
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="web")
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        stopping()
        server.should_exit = True
        await serving
        raise
    finally:
        listener.close()
