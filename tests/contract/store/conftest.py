"""A database with its tables, on SQLite and on PostgreSQL, and the parts of the store on top of it.

The steps of the migration are taken once per session; every test gets a copy.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rig.postgres import PostgresServer
from tidemill.store.bodies import Bodies, bodies_for
from tidemill.store.database import Database, open_database
from tidemill.store.ids import Ids
from tidemill.store.migrate import upgrade


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("migrated") / "tidemill.db"
    migrate(f"sqlite+aiosqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> Iterator[str]:
    name = postgres.create_database()
    migrate(postgres.url(name))
    yield name
    postgres.drop_database(name)


def migrate(url: str) -> None:
    """Take every step, whether or not the caller is inside an event loop: on a thread with its own."""

    async def take_every_step() -> None:
        database = open_database(url)
        await upgrade(database)
        await database.close()

    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, take_every_step()).result()


@pytest.fixture
def migrated_sqlite_url(migrated_sqlite: Path, sqlite_url: str, tmp_path: Path) -> str:
    shutil.copy(migrated_sqlite, tmp_path / "tidemill.db")
    return sqlite_url


@pytest.fixture
def migrated_postgres_url(postgres: PostgresServer, migrated_postgres: str) -> Iterator[str]:
    name = postgres.create_database(template=migrated_postgres)
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    opened = open_database(request.getfixturevalue(f"migrated_{request.param}_url"))
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite_database(migrated_sqlite_url: str) -> AsyncIterator[Database]:
    opened = open_database(migrated_sqlite_url)
    yield opened
    await opened.close()


@pytest.fixture
def ids(database: Database) -> Ids:
    return Ids(database)


@pytest.fixture
async def bodies(database: Database) -> AsyncIterator[Bodies]:
    kept = bodies_for(database)
    yield kept
    await kept.close()


@pytest.fixture
def segments(tmp_path: Path) -> Path:
    """Where the segments of this test's SQLite database are."""
    return tmp_path / "tidemill.db.pages"
