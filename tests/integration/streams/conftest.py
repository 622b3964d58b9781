"""Streams over real HTTP on loopback, on real databases."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from rig.clock import SettableClock
from rig.streamed import TallyWriter
from rig.streaming import StreamServer, stream_server
from tidemill.store.database.database import Database, open_database


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    opened = open_database(request.getfixturevalue(f"migrated_{request.param}_url"))
    yield opened
    await opened.close()


@pytest.fixture
def writer(database: Database) -> TallyWriter:
    return TallyWriter(database)


@pytest.fixture
async def server(database: Database, clock: SettableClock, writer: TallyWriter) -> AsyncIterator[StreamServer]:
    async with stream_server(database, clock, writer.log) as serving:
        yield serving


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened
