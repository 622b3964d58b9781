"""What a person can do with browsers: list the pools of every process, and have browsers replaced."""

from tidemill.core.audit import AuditEntry
from tidemill.core.views.browsers import PoolView
from tidemill.pipeline.ports import Clock
from tidemill.store.services.browsers import BrowserRepository
from tidemill.store.upkeep.audit import AuditLog


class BrowserActions:
    """Lists browser pools and requests that their browsers are replaced; every request is audited."""

    def __init__(self, repository: BrowserRepository, audit: AuditLog, clock: Clock) -> None:
        """Pools are told through the repository: they live in other processes."""
        self._repository = repository
        self._audit = audit
        self._clock = clock

    async def pools(self) -> list[PoolView]:
        """Return the state of every pool."""
        return await self._repository.pools(self._clock.now())

    async def recycle(self, actor: str) -> list[PoolView]:
        """Request that every browser finishes its pages and is replaced; return the pools concerned."""
        now = self._clock.now()
        concerned = [pool for pool in await self._repository.pools(now) if pool.state.browsers]
        await self._repository.ask_to_recycle(actor, now)
        entry = AuditEntry(actor, "manual_trigger", "browsers", {"pools": [pool.process for pool in concerned]})
        await self._audit.note([entry], now)
        return concerned
