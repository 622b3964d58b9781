"""What a person can do with browsers: see how the pools of every process stand, and have them replaced."""

from tidemill.core.audit import AuditEntry
from tidemill.core.views.browsers import PoolView
from tidemill.pipeline.ports import Clock
from tidemill.store.services.browsers import BrowserRepository
from tidemill.store.upkeep.audit import AuditLog


class BrowserActions:
    """Shows browser pools and asks them to start afresh; every wish is audited."""

    def __init__(self, repository: BrowserRepository, audit: AuditLog, clock: Clock) -> None:
        """Pools are told through the repository: they live in other processes."""
        self._repository = repository
        self._audit = audit
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
        await self._audit.note([entry], now)
        return concerned
