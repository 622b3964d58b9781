"""Where a pool is seen by others: its state, and what people ask of it."""

from datetime import datetime
from typing import Protocol

from tidemill.core.views.browsers import PoolState, RecycleRequest


class PoolRepository(Protocol):
    """The one place that every process sees: each pool writes how it stands, and reads what is asked of all."""

    async def publish(self, state: PoolState, now: datetime) -> None:
        """How this process's pool stands."""
        ...

    async def withdraw(self) -> None:
        """This process has no pool any more."""
        ...

    async def wish(self) -> RecycleRequest | None:
        """The last wish of a person that browsers be replaced, if there ever was one."""
        ...
