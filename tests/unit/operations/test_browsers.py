"""A person looks at the browsers of every process, and has them replaced."""

from collections.abc import Sequence
from datetime import datetime

from rig.clock import NOON, SettableClock
from tidemill.core.audit import AuditEntry
from tidemill.core.recycling import Vitals
from tidemill.core.views.browsers import BrowserState, PoolState, PoolView
from tidemill.operations.browsers import BrowserActions

CHROMIUM = BrowserState(pid=7, driver_pid=6, version="156", is_leaving=False,
                        vitals=Vitals(started_at=NOON, last_used_at=NOON))  # fmt: skip
BUSY = PoolView(process="one:1", seen_at=NOON, state=PoolState(browsers=(CHROMIUM,)))
EMPTY = PoolView(process="two:2", seen_at=NOON, state=PoolState())


class Shelf:
    """Two pools and a place for wishes."""

    def __init__(self) -> None:
        self.wishes: list[tuple[str, datetime]] = []

    async def pools(self, now: datetime) -> list[PoolView]:
        assert now == NOON
        return [BUSY, EMPTY]

    async def ask_to_recycle(self, by: str, now: datetime) -> None:
        self.wishes.append((by, now))


class Log:
    """What was audited."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    async def note(self, entries: Sequence[AuditEntry], now: datetime) -> None:
        assert now == NOON
        self.entries += entries


async def test_the_wish_to_recycle_is_left_for_every_pool_and_audited():
    repository, log = Shelf(), Log()
    assert await BrowserActions(repository, log, SettableClock()).recycle("ans") == [BUSY]
    assert repository.wishes == [("ans", NOON)]
    assert log.entries == [AuditEntry("ans", "manual_trigger", "browsers", {"pools": ["one:1"]})]
