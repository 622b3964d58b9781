"""What a person can do with browsers: see how the pools of every process stand, and have them replaced."""

from datetime import datetime
from typing import Protocol

from tidemill.core.audit import AuditEntry
from tidemill.core.views.browsers import PoolView
from tidemill.operations.runs import Log
from tidemill.pipeline.ports import Clock


class PoolShelf(Protocol):
    """Pools, as their processes publish them."""

    async def pools(self, now: datetime) -> list[PoolView]:
        """The pools of all processes that were heard of lately."""
        ...

    async def ask_to_recycle(self, by: str, now: datetime) -> None:
        """Leave the wish where every pool sees it."""
        ...


class BrowserActions:
    """Shows browser pools and asks them to start afresh; every wish is audited."""

    def __init__(self, repository: PoolShelf, log: Log, clock: Clock) -> None:
        """Pools are told through the repository: they live in other processes."""
        self._repository = repository
        self._log = log
        self._clock = clock

    async def pools(self) -> list[PoolView]:
        """How every pool stands."""
        return await self._repository.pools(self._clock.now())

    async def recycle(self, actor: str) -> list[PoolView]:
        """Have every browser finish its pages and be replaced within seconds; answers the pools that will."""
        now = self._clock.now()
        concerned = [pool for pool in await self._repository.pools(now) if pool.state.browsers]
        await self._repository.ask_to_recycle(actor, now)
        entry = AuditEntry(actor, "manual_trigger", "browsers", {"pools": [pool.process for pool in concerned]})
        await self._log.note([entry], now)
        return concerned
