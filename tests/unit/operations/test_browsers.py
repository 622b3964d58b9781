"""A person looks at the browsers of every process, and has them replaced."""

from collections.abc import AsyncIterator

import pytest

from rig.clock import NOON, SettableClock
from tidemill.core.audit import AuditEntry
from tidemill.core.services.recycling import Vitals
from tidemill.core.views.browsers import BrowserState, PoolState, RecycleRequest
from tidemill.operations.browsers import BrowserActions
from tidemill.store.database.database import Database, open_database
from tidemill.store.database.keys import Ids
from tidemill.store.services.browsers import BrowserRepository
from tidemill.store.upkeep.audit import AuditLog

CHROMIUM = BrowserState(pid=7, driver_pid=6, version="156", is_leaving=False,
                        vitals=Vitals(started_at=NOON, last_used_at=NOON))  # fmt: skip


@pytest.fixture
async def database(migrated_sqlite_url: str) -> AsyncIterator[Database]:
    opened = open_database(migrated_sqlite_url)
    yield opened
    await opened.close()


@pytest.mark.shows("H3")
async def test_the_wish_to_recycle_is_left_for_every_pool_and_audited(database: Database, clock: SettableClock):
    busy, idle = BrowserRepository(database, "one:1"), BrowserRepository(database, "two:2")
    await busy.publish(PoolState(browsers=(CHROMIUM,)), NOON)
    await idle.publish(PoolState(), NOON)
    audit = AuditLog(database, Ids(database))

    asked = await BrowserActions(BrowserRepository(database), audit, clock).recycle("ans")

    assert [pool.process for pool in asked] == ["one:1"]
    assert await busy.wish() == await idle.wish() == RecycleRequest(at=NOON, by="ans")
    entry = AuditEntry("ans", "manual_trigger", "browsers", {"pools": ["one:1"]})
    assert [noted.entry for noted in await audit.latest()] == [entry]
