"""Bring sources and targets in from files: idempotent, the good kept, the bad told."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.market import TEMPLATE
from tidemill.operations.plans import Known, Problem, SourcePlan, TargetPlan, Troubles
from tidemill.operations.ports import Change, Sources, Targets
from tidemill.operations.source_file import read_entries, read_sources
from tidemill.operations.target_file import read_targets
from tidemill.pipeline.ports import Clock

LayOut = Callable[[datetime], Awaitable[int]]


class Tally(msgspec.Struct, frozen=True):
    """How many were new, changed, or as they were."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0


class Imported(msgspec.Struct, frozen=True):
    """What an import did; `in_markets` are the targets that sources which cover markets got or changed by it."""

    sources: Tally = Tally()
    targets: Tally = Tally()
    problems: Sequence[Problem] = ()
    in_markets: int = 0

    @property
    def created(self) -> int:
        """Everything new."""
        return self.sources.created + self.targets.created

    @property
    def updated(self) -> int:
        """Everything changed."""
        return self.sources.updated + self.targets.updated

    @property
    def unchanged(self) -> int:
        """Everything that was so already."""
        return self.sources.unchanged + self.targets.unchanged


class Importer:
    """Reads files and writes what they ask for; `known` says which verticals and adapters there are."""

    def __init__(
        self, sources: Sources, targets: Targets, clock: Clock, known: Known, lay_out: LayOut | None = None
    ) -> None:
        """Write through the store's shelves; `lay_out` makes targets of the sources that cover markets."""
        self._lay_out = lay_out
        self._sources = sources
        self._targets = targets
        self._clock = clock
        self._known = known

    async def sources_file(self, content: bytes, actor: str, name: str = "sources.yaml") -> Imported:
        """Bring in a sources file."""
        troubles = Troubles()
        return await self._bring_in(read_sources(content, self._known, troubles), troubles, actor, name)

    async def source_entries(self, entries: Sequence[Mapping[str, Any]], actor: str, name: str = "entries") -> Imported:
        """Bring in sources that a program lists in the form of a sources file."""
        troubles = Troubles()
        return await self._bring_in(read_entries(entries, self._known, troubles), troubles, actor, name)

    async def targets_file(self, content: bytes, actor: str, name: str = "targets.csv") -> Imported:
        """Bring in a targets file for sources that exist."""
        troubles = Troubles()
        sources = {source.name: source for source in await self._sources.every()}
        plans = read_targets(content, sources, self._known, troubles)
        audit = [_entry(actor, "targets.import", name, {"targets": len(plans), "problems": len(troubles.found)})]
        return Imported(targets=await self._write_targets(plans, {}, actor, audit), problems=troubles.found)

    async def _bring_in(self, plans: Sequence[SourcePlan], troubles: Troubles, actor: str, name: str) -> Imported:
        targets = [target for plan in plans for target in plan.targets]
        detail = {"sources": len(plans), "targets": len(targets), "problems": len(troubles.found)}
        audit = [_entry(actor, "sources.import", name, detail)]
        wanted = [(plan.source, plan.fields) for plan in plans]
        done = await self._sources.upsert(wanted, self._clock.now(), audit)
        keys = {name: key for name, (key, _) in done.items()}
        written = await self._write_targets(targets, keys, actor, [])
        in_markets = await self._cover_markets(plans)
        return Imported(_tally(done.values()), written, troubles.found, in_markets)

    async def _cover_markets(self, plans: Sequence[SourcePlan]) -> int:
        """Give sources that cover markets their targets now, and not when the next hour strikes."""
        if self._lay_out is None or not any(TEMPLATE in plan.source.adapter_settings for plan in plans):
            return 0
        return await self._lay_out(self._clock.now())

    async def _write_targets(
        self, plans: Sequence[TargetPlan], keys: Mapping[str, int], actor: str, audit: Sequence[AuditEntry]
    ) -> Tally:
        """Write targets; `keys` gives the sources that were only just created their keys."""
        wanted = [
            (
                msgspec.structs.replace(
                    plan.target, source_id=keys.get(plan.source_name, plan.target.source_id), created_by=actor
                ),
                plan.fields,
            )
            for plan in plans
        ]
        return _tally((await self._targets.upsert(wanted, self._clock.now(), audit)).values())


def _tally(done: Iterable[tuple[int, Change]]) -> Tally:
    changes = [change for _, change in done]
    return Tally(changes.count("created"), changes.count("updated"), changes.count("unchanged"))


def _entry(actor: str, action: str, name: str, detail: Mapping[str, Any]) -> AuditEntry:
    return AuditEntry(actor, action, f"file {name}", detail)
