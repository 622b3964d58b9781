"""A database with its tables, on SQLite and on PostgreSQL, and the parts of the store on top of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rig.clock import SettableClock
from rig.mill import Mill
from tidemill.store.database.database import Database, open_database
from tidemill.store.database.keys import Ids
from tidemill.store.pages.bodies import Bodies, bodies_for


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
async def mill(database: Database, clock: SettableClock) -> AsyncIterator[Mill]:
    turning = Mill(database, clock)
    yield turning
    await turning.bodies.close()


@pytest.fixture
async def bodies(database: Database) -> AsyncIterator[Bodies]:
    kept = bodies_for(database)
    yield kept
    await kept.close()


@pytest.fixture
def segments(tmp_path: Path) -> Path:
    """Where the segments of this test's SQLite database are."""
    return tmp_path / "tidemill.db.pages"
