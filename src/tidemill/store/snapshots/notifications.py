"""PostgreSQL's notifications of commits: another process wrote to the log."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from tidemill.store.database.database import Database
from tidemill.store.snapshots.log import CHANNEL

AGAIN_AFTER_SECONDS = 1.0


@asynccontextmanager
async def commit_notifications(database: Database, callback: Callable[[], None]) -> AsyncIterator[None]:
    """Call back after each commit to the log by any process, while entered; on SQLite nobody tells.

    A notification that is lost costs its readers the second until somebody looks.
    """
    if database.is_sqlite:
        yield
        return
    listening = asyncio.create_task(_listen_forever(database, callback), name="commit notifications")
    try:
        yield
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def _listen_forever(database: Database, callback: Callable[[], None]) -> None:
    while True:
        with suppress(SQLAlchemyError, OSError, ExceptionGroup):
            await _listen(database, callback)
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=AGAIN_AFTER_SECONDS)


async def _listen(database: Database, callback: Callable[[], None]) -> None:
    """Listen on a connection of its own until that one is lost."""
    async with database.engine.connect() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        ended = asyncio.Event()

        def heard(*_: object) -> None:
            callback()

        driver.add_termination_listener(lambda _: ended.set())
        await driver.add_listener(CHANNEL, heard)
        callback()  # what was committed before we listened
        try:
            await ended.wait()
        finally:
            if not driver.is_closed():
                await driver.remove_listener(CHANNEL, heard)
