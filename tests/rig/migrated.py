"""Taking every step of the migration, once per session: tests get copies of what comes out."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import upgrade


def migrate(url: str) -> None:
    """Take every step, whether or not the caller is inside an event loop: on a thread with its own."""

    async def take_every_step() -> None:
        database = open_database(url)
        await upgrade(database)
        await database.close()

    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, take_every_step()).result()
