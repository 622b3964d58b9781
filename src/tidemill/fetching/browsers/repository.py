"""Where a pool publishes its state and finds what people ask of it."""

from datetime import datetime
from typing import Protocol

from tidemill.core.views.browsers import PoolState, RecycleRequest


class PoolRepository(Protocol):
    """Kept where every process sees it: each pool writes its state, and reads what is asked of all pools."""

    async def publish(self, state: PoolState, now: datetime) -> None:
        """Store the state of this process's pool."""
        ...

    async def withdraw(self) -> None:
        """Remove this process's pool."""
        ...

    async def wish(self) -> RecycleRequest | None:
        """Return the last request of a person to replace browsers, if there ever was one."""
        ...
