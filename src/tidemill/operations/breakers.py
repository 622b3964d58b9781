"""What a person can do with circuit breakers: end the rest of one at once."""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.operations.runs import host_wait
from tidemill.operations.sources import SourceActions
from tidemill.pipeline.ports import Clock
from tidemill.store.ledger.breakers import Breakers
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.views.views import Views


class BreakerReset(msgspec.Struct, frozen=True):
    """A breaker whose rest was ended, what it had been, and how many waiting jobs were freed.

    `host_rests_until` is set when all of the source's hosts rest beyond their pace: no call goes out before then.
    """

    source: str
    was: str
    freed: int = 0
    host_rests_until: datetime | None = None


class BreakerActions:
    """Resets breakers; every action is audited."""

    def __init__(
        self,
        sources: SourceActions,
        breakers: Breakers,
        views: Views,
        audit: AuditLog,
        clock: Clock,
        wake: Callable[[int], None],
    ) -> None:
        """`wake` tells workers that jobs may go again."""
        self._sources = sources
        self._breakers = breakers
        self._views = views
        self._audit = audit
        self._clock = clock
        self._wake = wake

    async def reset(self, which: str, actor: str) -> BreakerReset:
        """End the rest of a source's breaker at once: what waits for it is free, one probe first."""
        source = await self._sources.find(which)
        return (await self._reset([(source.id, source.name)], actor))[0]

    async def reset_all(self, actor: str) -> list[BreakerReset]:
        """End the rest of every breaker that is open."""
        tripped = [one for one in await self._views.breakers() if one.state == "OPEN"]
        return await self._reset([(one.source_id, one.source_name) for one in tripped], actor)

    async def _reset(self, which: Sequence[tuple[int, str]], actor: str) -> list[BreakerReset]:
        now = self._clock.now()
        done = [
            BreakerReset(name, *await self._breakers.reset(key, now), await self._rest_of(key, now))
            for key, name in which
        ]
        notes = [
            AuditEntry(actor, "breaker.reset", f"source {one.source}", {"was": one.was, "freed": one.freed})
            for one in done
        ]
        if notes:
            await self._audit.note(notes, now)
        self._wake(len(done) + sum(one.freed for one in done))
        return done

    async def _rest_of(self, source_id: int, now: datetime) -> datetime | None:
        detail = await self._views.source(source_id, now)
        wait = host_wait(detail, now) if detail else None
        return now + wait if wait else None
