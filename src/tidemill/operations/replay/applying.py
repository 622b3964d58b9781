"""Bringing an accepted replay into the records, and taking it back."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from tidemill.core.audit import AuditEntry
from tidemill.core.replay.views import ReplayView
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import Clock
from tidemill.store.records.corrections import RecordCorrection, RecordCorrections
from tidemill.store.replays.applications import ReplayApplications
from tidemill.store.replays.replays import ReplayRepository

AT_ONCE = 500
"""Corrections that are given to a vertical at once."""


@dataclass(frozen=True, slots=True)
class ReplayApplier:
    """Gives what a replay read to the verticals that its sources belong to, all of it in one transaction."""

    repository: ReplayRepository
    applications: ReplayApplications
    ports: Mapping[str, RecordCorrections]
    clock: Clock

    async def apply(self, view: ReplayView, by: str) -> None:
        """Correct the records; readers see all of it or nothing."""
        verticals = await self.applications.verticals_of(view.id)
        without = sorted(set(verticals.values()) - set(self.ports))
        if without:
            msg = f"records of {', '.join(without)} are not corrected by a replay: their log only grows by what is seen"
            raise Mistake(msg)
        now = self.clock.now()
        note = AuditEntry(by, "replay.applied", view.scope.words, {"replay": view.id})
        changes = sum([1 async for _ in self._corrections(view.id)])
        portions = self._portions(view.id, verticals)
        await self.applications.apply(view.id, self.ports, portions, changes, by, now, [note])

    async def revert(self, view: ReplayView, by: str) -> None:
        """Take back what was corrected."""
        now = self.clock.now()
        verticals = sorted(set((await self.applications.verticals_of(view.id)).values()) & set(self.ports))
        note = AuditEntry(by, "replay.reverted", view.scope.words, {"replay": view.id})
        ports = [self.ports[vertical] for vertical in verticals]
        await self.applications.revert(view.id, ports, sum(view.applied.values()), by, now, [note])

    async def _portions(
        self, replay_id: int, verticals: Mapping[int, str]
    ) -> AsyncIterator[tuple[str, list[RecordCorrection]]]:
        held: dict[str, list[RecordCorrection]] = {}
        async for one in self._corrections(replay_id):
            vertical = verticals.get(one.source_id)
            if vertical is None:
                continue
            some = held.setdefault(vertical, [])
            some.append(one)
            if len(some) >= AT_ONCE:
                yield vertical, some
                held[vertical] = []
        for vertical, some in held.items():
            if some:
                yield vertical, some

    async def _corrections(self, replay_id: int) -> AsyncIterator[RecordCorrection]:
        async for source_id, page in self.repository.walk(replay_id, differing=True):
            for change in page.difference.changes if page.difference is not None else ():
                yield RecordCorrection(
                    source_id=source_id, page_id=page.page_id, fetched_at=page.fetched_at, identity=change.identity,
                    before=change.before, after=change.after, names=change.names,
                )  # fmt: skip
