"""What a person can do with circuit breakers: close one at once."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.views import BreakerView
from tidemill.operations.runs import Log
from tidemill.operations.sources import SourceActions
from tidemill.pipeline.ports import Clock


class Switchboard(Protocol):
    """Breakers, kept."""

    async def reset(self, source_id: int, now: datetime) -> str:
        """Close a breaker; answers the state it was in."""
        ...


class Sight(Protocol):
    """Breakers, as they stand."""

    async def breakers(self) -> list[BreakerView]:
        """Every breaker that has ever been asked."""
        ...


class Reset(msgspec.Struct, frozen=True):
    """A breaker that was closed, and what it had been."""

    source: str
    was: str


class BreakerActions:
    """Resets breakers; every deed is audited."""

    def __init__(
        self,
        sources: SourceActions,
        board: Switchboard,
        sight: Sight,
        log: Log,
        clock: Clock,
        wake: Callable[[int], None],
    ) -> None:
        """`wake` tells workers that jobs may go again."""
        self._sources = sources
        self._board = board
        self._sight = sight
        self._log = log
        self._clock = clock
        self._wake = wake

    async def reset(self, which: str, actor: str) -> Reset:
        """Close a source's breaker at once; jobs that wait for it go when their moment comes."""
        source = await self._sources.find(which)
        return (await self._reset([(source.id, source.name)], actor))[0]

    async def reset_all(self, actor: str) -> list[Reset]:
        """Close every breaker that is not closed."""
        tripped = [one for one in await self._sight.breakers() if one.state != "CLOSED"]
        return await self._reset([(one.source_id, one.source_name) for one in tripped], actor)

    async def _reset(self, which: Sequence[tuple[int, str]], actor: str) -> list[Reset]:
        now = self._clock.now()
        done = [Reset(name, await self._board.reset(key, now)) for key, name in which]
        notes = [AuditEntry(actor, "breaker.reset", f"source {one.source}", {"was": one.was}) for one in done]
        if notes:
            await self._log.note(notes, now)
        self._wake(len(done))
        return done
