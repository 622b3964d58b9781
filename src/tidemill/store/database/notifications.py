"""PostgreSQL's notifications: what one process says after a commit, others hear at once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from sqlalchemy import text

from tidemill.store.database.database import Database

AGAIN_AFTER_SECONDS = 1.0
ASKED_EVERY_SECONDS = 60.0
"""A network that drops a silent connection tells neither side, so the server is asked now and then."""
ANSWERS_WITHIN_SECONDS = 10.0
_NOTIFY = text("SELECT pg_notify(:channel, :words)")


async def notify(database: Database, channel: str, words: str) -> None:
    """Say words to every process that listens on a channel."""
    async with database.write() as connection:
        await connection.execute(_NOTIFY, {"channel": channel, "words": words})


@asynccontextmanager
async def hearing(database: Database, channel: str, callback: Callable[[str], None]) -> AsyncIterator[None]:
    """Call back with what is said on a channel, while entered; nobody says anything where nothing can be heard.

    A notification that is lost costs its readers the time until they look by themselves.
    """
    if not database.notifies:
        yield
        return
    listening = asyncio.create_task(hear_forever(database, channel, callback), name=f"hears {channel}")
    try:
        yield
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def hear_forever(database: Database, channel: str, callback: Callable[[str], None]) -> None:
    """Listen until cancelled, on a connection of its own that is opened again when it is lost."""
    while True:
        with suppress(Exception):  # the driver's own errors too: whoever listens has nobody else to try again
            await _hear(database, channel, callback)
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=AGAIN_AFTER_SECONDS)


async def _hear(database: Database, channel: str, callback: Callable[[str], None]) -> None:
    """Listen until the connection is lost; call back once with nothing, for what was said before we listened."""
    async with database.engine.connect() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        ended = asyncio.Event()

        def heard(_connection: object, _pid: int, _channel: str, said: str) -> None:
            callback(said)

        driver.add_termination_listener(lambda _: ended.set())
        await driver.add_listener(channel, heard)
        callback("")
        try:
            await _until_lost(driver, ended)
        finally:
            if not driver.is_closed():
                await driver.remove_listener(channel, heard)


async def _until_lost(driver: Any, ended: asyncio.Event) -> None:
    """Wait for the end of a connection; one that no longer answers is ended."""
    while not ended.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), ASKED_EVERY_SECONDS)
            return
        try:
            await driver.execute("SELECT 1", timeout=ANSWERS_WITHIN_SECONDS)
        except TimeoutError:
            driver.terminate()
            raise
