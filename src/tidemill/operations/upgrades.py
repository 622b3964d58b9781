"""What a person can do with suggested fetcher upgrades: list, accept and dismiss."""

from tidemill.core.audit import AuditEntry
from tidemill.core.views import UpgradeView
from tidemill.operations.mistakes import Mistake
from tidemill.operations.sources import SourceActions
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.upgrades import UpgradeRepository


class UpgradeActions:
    """Decides on suggestions; every action is audited."""

    def __init__(self, upgrades: UpgradeRepository, sources: SourceActions, clock: Clock) -> None:
        """`sources` finds by name."""
        self._upgrades = upgrades
        self._sources = sources
        self._clock = clock

    async def every(self, *, everything: bool = False) -> list[UpgradeView]:
        """What waits for a person; with `everything` also what was decided."""
        return await self._upgrades.every(None if everything else "pending")

    async def accept(self, which: str, actor: str) -> UpgradeView:
        """Switch a source to the suggested fetcher."""
        return await self._decide(which, "accepted", actor)

    async def dismiss(self, which: str, actor: str) -> UpgradeView:
        """Leave a source as it is, and do not suggest the same again."""
        return await self._decide(which, "dismissed", actor)

    async def _decide(self, which: str, status: str, actor: str) -> UpgradeView:
        source = await self._sources.find(which)
        found = next((each for each in await self._upgrades.every() if each.source_id == source.id), None)
        if found is None or found.status != "pending":
            was = "nothing is suggested" if found is None else f"the suggestion was {found.status} already"
            msg = f"{was} for source {source.name!r}; `tidemill sources upgrades` lists what waits"
            raise Mistake(msg)
        detail = {"from": source.fetcher.value, "to": found.fetcher, "reason": found.reason}
        note = AuditEntry(actor, f"source.upgrade.{status}", f"source {source.name}", detail)
        await self._upgrades.decide(found, status, actor, self._clock.now(), [note])
        return next(each for each in await self._upgrades.every() if each.source_id == source.id)
