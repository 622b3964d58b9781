"""A server on a thread of its own: for commands, which bring a loop of their own."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

Server = TypeVar("Server")
LONG_ENOUGH = 30
"""Seconds that a server on loopback has to start and to stop."""


@contextmanager
def aside(serve: Callable[[], AbstractAsyncContextManager[Server]]) -> Iterator[Server]:
    """Run what `serve` opens beside this thread, until the block ends."""
    ready = threading.Event()
    running: list[tuple[Server, asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def until_over() -> None:
        async with serve() as server:
            over = asyncio.Event()
            running.append((server, asyncio.get_running_loop(), over))
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(until_over()), daemon=True)
    thread.start()
    assert ready.wait(LONG_ENOUGH), "the server did not start"
    server, loop, over = running[0]
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(LONG_ENOUGH)
