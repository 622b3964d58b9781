"""What a person can do with targets."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.operations.plans import KnownAdapters
from tidemill.operations.source_fields import MOST_PRIORITY
from tidemill.operations.source_file import plan_target
from tidemill.operations.yaml_nodes import BadValue
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository


class TargetActions:
    """Adds, pauses, resumes and removes targets; every action is audited."""

    def __init__(
        self, sources: SourceRepository, targets: TargetRepository, clock: Clock, known: KnownAdapters
    ) -> None:
        """Act on the store's repositories."""
        self._sources = sources
        self._targets = targets
        self._clock = clock
        self._known = known

    async def find(self, which: str) -> Target:
        """Return a target by key or URL; raise `NotFound` if there is none."""
        if which.isdecimal():
            found = await self._targets.find(int(which))
            if found is None:
                msg = f"there is no target {which}; see `tidemill targets list`"
                raise NotFound(msg)
            return found
        try:
            several = await self._targets.at(canonicalize(which))
        except BadUrl as error:
            raise Mistake(str(error)) from error
        if not several:
            msg = f"there is no target {which}; see `tidemill targets list`"
            raise NotFound(msg)
        if len(several) > 1:
            keys = ", ".join(str(target.id) for target in several)
            msg = f"several sources have {which}; name one of the targets {keys}"
            raise Mistake(msg)
        return several[0]

    async def add(self, source_name: str, url: str, actor: str, options: Mapping[str, Any] | None = None) -> Target:
        """Add a page to a source; `options` may hold schedule, priority, adapter and notes."""
        source = await self._source(source_name)
        target, fields = self._planned(source, {"url": url, **(options or {})})
        if any(other.source_id == source.id for other in await self._targets.at(target.canonical_url)):
            msg = f"source {source.name!r} has {target.url} already"
            raise Mistake(msg)
        note = AuditEntry(actor, "target.add", f"target {target.url}", {"source": source.name})
        mine = msgspec.structs.replace(target, created_by=actor)
        done = await self._targets.upsert([(mine, fields)], self._clock.now(), [note])
        key, _ = done[source.id, target.canonical_url]
        return await self.find(str(key))

    async def reschedule(self, which: str, schedule: str | None, actor: str) -> Target:
        """Give a target another schedule, by which it is due at once; None is its vertical's own."""
        target = await self.find(which)
        source = await self._sources.find(target.source_id)
        if source is not None and schedule is not None:
            self._planned(source, {"url": target.url, "adapter": target.adapter_id, "schedule": schedule})
        changed = msgspec.structs.replace(target, schedule=schedule)
        note = AuditEntry(
            actor, "target.schedule", f"target {target.url}", {"id": target.id, "schedule": schedule or ""}
        )
        await self._targets.upsert([(changed, ["schedule"])], self._clock.now(), [note])
        return await self.find(str(target.id))

    async def change(
        self, which: str, actor: str, *, schedule: str | None, priority: int | None = None
    ) -> Target:  # fmt: skip
        """Give a target another schedule (None is its vertical's own) and priority (None leaves it as it is)."""
        target = await self.find(which)
        source = await self._sources.find(target.source_id)
        wanted = target.priority if priority is None else priority
        if abs(wanted) > MOST_PRIORITY:
            msg = f"a priority of {wanted} is out of bounds; write -{MOST_PRIORITY} to {MOST_PRIORITY}"
            raise Mistake(msg)
        if source is not None:
            values = {"url": target.url, "adapter": target.adapter_id, "priority": wanted}
            self._planned(source, values | ({"schedule": schedule} if schedule is not None else {}))
        changed = msgspec.structs.replace(target, schedule=schedule, priority=wanted)
        detail = {"id": target.id, "schedule": schedule or "", "priority": wanted, "was": target.schedule or ""}
        note = AuditEntry(actor, "target.change", f"target {target.url}", detail)
        await self._targets.upsert([(changed, ["schedule", "priority"])], self._clock.now(), [note])
        return await self.find(str(target.id))

    async def pause(self, which: str, actor: str, reason: str = "") -> Target:
        """Pause a target until it is resumed."""
        target = await self.find(which)
        await self._targets.pause([target.id], self._clock.now(), [_note(actor, "target.pause", target, reason)])
        return await self.find(str(target.id))

    async def resume(self, which: str, actor: str) -> Target:
        """Resume a paused or broken target; it is due at once."""
        target = await self.find(which)
        await self._targets.resume([target.id], self._clock.now(), [_note(actor, "target.resume", target)])
        return await self.find(str(target.id))

    async def remove(self, which: str, actor: str) -> Target:
        """Remove a target; its pages and records stay."""
        target = await self.find(which)
        await self._targets.remove([target.id], self._clock.now(), [_note(actor, "target.remove", target)])
        return target

    async def _source(self, name: str) -> Source:
        source = await self._sources.find(name)
        if source is None:
            raise NotFound(unknown_name("source", name, await self._sources.names()))
        return source

    def _planned(self, source: Source, values: Mapping[str, Any]) -> tuple[Target, Any]:
        try:
            plan = plan_target(0, source, values, self._known)
        except BadValue as error:
            raise Mistake(str(error)) from error
        return plan.target, plan.fields


def _note(actor: str, action: str, target: Target, reason: str = "") -> AuditEntry:
    return AuditEntry(actor, action, f"target {target.url}", {"id": target.id, "reason": reason})
