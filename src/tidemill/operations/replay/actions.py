"""What a person can do with replays: start, look, accept, refuse, roll back, apply and revert."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.replay.views import (
    ChangeStatus,
    ReadingChange,
    ReadingChangeKind,
    ReplayScope,
    ReplayStatus,
    ReplayView,
    ReplayWithReport,
)
from tidemill.core.source import Source
from tidemill.core.vertical import Vertical
from tidemill.operations.mistakes import Conflict, Mistake, NotFound, unknown_name
from tidemill.operations.replay.applying import ReplayApplier
from tidemill.operations.replay.page_replay import Progress
from tidemill.operations.replay.requests import ReplayRequest, require_selectors, scope_of
from tidemill.operations.replay.runner import ReplayRunner, no_progress
from tidemill.pipeline.ports import Clock
from tidemill.store.replays.changes import ReadingChanges
from tidemill.store.replays.replays import ReplayRepository, decode_report
from tidemill.store.sources.sources import SourceRepository


@dataclass(frozen=True, slots=True)
class ReplayActions:
    """Acts on replays; every action is audited. `gate_pages` is how many pages a rollback replays."""

    verticals: Mapping[str, Vertical]
    sources: SourceRepository
    repository: ReplayRepository
    changes: ReadingChanges
    runner: ReplayRunner
    applier: ReplayApplier
    clock: Clock
    gate_pages: int

    async def start(self, request: ReplayRequest, by: str) -> ReplayView:
        """Write a replay down with its pages; `run` reads them."""
        source = await self._source(request.source) if request.source else None
        owner = "" if source is None else source.vertical
        scope = scope_of(request, self.verticals, self.clock.now(), owner)
        if source is not None and scope.selectors is not None:
            require_selectors(scope.selectors, source, self.verticals)
        note = AuditEntry(by, "replay.started", scope.words, msgspec.to_builtins(scope))
        key = await self.repository.begin(scope, ChangeStatus.UNPROVEN, by, self.clock.now(), [note])
        return await self.find(key)

    async def run(self, replay_id: int, progress: Progress = no_progress) -> ReplayWithReport:
        """Read the pages of a replay that were not read yet, and return it with its report."""
        await self.find(replay_id)
        await self.runner.run(replay_id, progress)
        return await self.show(replay_id)

    async def every(self, *, waiting: bool = False, limit: int = 100) -> list[ReplayView]:
        """Return replays, the newest first; those that wait for a person if asked."""
        return await self.repository.every(limit, ChangeStatus.WAITING if waiting else None)

    async def open_changes(self) -> list[ReadingChange]:
        """Return changes of reading that wait for their replay or for a person."""
        found = [await self.changes.every(status=each) for each in (ChangeStatus.CHECKING, ChangeStatus.WAITING)]
        return [one for some in found for one in some]

    async def every_change(self, limit: int = 100) -> list[ReadingChange]:
        """Return changes of reading, the newest first."""
        return await self.changes.every(limit=limit)

    async def find(self, replay_id: int) -> ReplayView:
        """Return one replay."""
        found = await self.repository.find(replay_id)
        if found is None:
            msg = f"there is no replay {replay_id}; `tidemill replays list` shows what is kept"
            raise NotFound(msg)
        return found

    async def show(self, replay_id: int) -> ReplayWithReport:
        """Return a replay with its report."""
        view = await self.find(replay_id)
        stored = await self.repository.report(replay_id)
        return ReplayWithReport(replay=view, report=None if stored is None else decode_report(stored))

    async def accept(self, replay_id: int, by: str) -> ReplayView:
        """Accept what a replay shows: a change that waited takes effect, proven selectors become the source's own."""
        view = await self._decided(replay_id, ChangeStatus.ACCEPTED, by)
        change = await self.changes.for_replay(replay_id)
        if change is not None:
            await self.changes.settle(change, ChangeStatus.ACCEPTED, by, self.clock.now())
        elif view.scope.selectors is not None:
            source = await self._source(view.scope.source)
            await self.changes.use_selectors(source, view.scope.selectors, replay_id, by, self.clock.now(), ())
        return await self.find(replay_id)

    async def refuse(self, replay_id: int, by: str) -> ReplayView:
        """Refuse what a replay shows: everything stays as it is."""
        await self._decided(replay_id, ChangeStatus.REFUSED, by)
        change = await self.changes.for_replay(replay_id)
        if change is not None:
            await self.changes.settle(change, ChangeStatus.REFUSED, by, self.clock.now())
        return await self.find(replay_id)

    async def apply(self, replay_id: int, by: str) -> ReplayView:
        """Bring an accepted reading into the records, as corrections that name the replay."""
        view = await self.find(replay_id)
        if view.change not in {ChangeStatus.ACCEPTED, ChangeStatus.PASSED}:
            msg = f"replay {replay_id} is {view.change}; accept it first with `tidemill replays accept {replay_id}`"
            raise Conflict(msg)
        if view.applied_at is not None and view.reverted_at is None:
            msg = f"replay {replay_id} is in the records already; `tidemill replays revert {replay_id}` takes it back"
            raise Conflict(msg)
        await self.applier.apply(view, by)
        return await self.find(replay_id)

    async def revert(self, replay_id: int, by: str) -> ReplayView:
        """Take back what applying a replay did, where nothing has changed since."""
        view = await self.find(replay_id)
        if view.applied_at is None or view.reverted_at is not None:
            msg = f"replay {replay_id} is not in the records, so there is nothing to take back"
            raise Conflict(msg)
        await self.applier.revert(view, by)
        return await self.find(replay_id)

    async def roll_back(self, source_name: str, by: str, progress: Progress = no_progress) -> ReplayWithReport:
        """Go back to the selectors that a source had before its last change; they are replayed like any other."""
        source = await self._source(source_name)
        last = await self.changes.last_selectors(source.id)
        if last is None:
            msg = f"the selectors of {source.name} have not changed since the gate watches, so there is nothing to undo"
            raise Mistake(msg)
        now = self.clock.now()
        key = await self.changes.open_rollback(source, last.before, by, now)
        (change,) = [one for one in await self.changes.every(status=ChangeStatus.CHECKING) if one.id == key]
        replay_id = await self.check(change, by, progress)
        return await self.show(replay_id)

    async def check(self, change: ReadingChange, by: str, progress: Progress = no_progress) -> int:
        """Replay the newest pages for a change, and settle it: it passes, or waits for a person."""
        replay_id = change.replay_id
        if replay_id is None:
            scope = gate_scope(change, self.gate_pages)
            scope = msgspec.structs.replace(scope, until=self.clock.now())
            replay_id = await self.repository.begin(scope, ChangeStatus.CHECKING, by, self.clock.now())
            await self.changes.set_replay(change.id, replay_id)
        view = await self.runner.run(replay_id, progress)
        note = AuditEntry(by, f"reading.{view.change}", _subject(change), {"replay": replay_id})
        await self.changes.settle(change, view.change, by, self.clock.now(), [note])
        return replay_id

    async def _decided(self, replay_id: int, status: ChangeStatus, by: str) -> ReplayView:
        view = await self.find(replay_id)
        if view.status is not ReplayStatus.DONE:
            msg = f"replay {replay_id} has not read all its pages; go on with `tidemill replay --resume {replay_id}`"
            raise Conflict(msg)
        if view.change is ChangeStatus.UNPROVEN:
            msg = f"replay {replay_id} proves nothing, since no record was compared; replay pages that are kept"
            raise Conflict(msg)
        note = AuditEntry(by, f"replay.{status}", view.scope.words, {"replay": replay_id, "digest": view.digest})
        if not await self.repository.decide(replay_id, status, by, self.clock.now(), [note]):
            msg = f"replay {replay_id} was {view.change} already; `tidemill replays show {replay_id}` says by whom"
            raise Conflict(msg)
        return await self.find(replay_id)

    async def _source(self, name: str) -> Source:
        found = await self.sources.find(name)
        if found is None:
            raise NotFound(unknown_name("source", name, await self.sources.names()))
        return found


def gate_scope(change: ReadingChange, pages: int) -> ReplayScope:
    """Return what is replayed for a change: the newest pages that it would have read."""
    if change.kind is ReadingChangeKind.VERSION:
        return ReplayScope(adapter=change.adapter_id, pages=pages, only_read=True)
    selectors: Any = change.after if change.after is not None else {}
    return ReplayScope(source=change.source_name, pages=pages, selectors=selectors, only_read=True)


def _subject(change: ReadingChange) -> str:
    return f"source {change.source_name}" if change.source_name else f"adapter {change.adapter_id}"


def held_words(changes: Sequence[ReadingChange]) -> list[str]:
    """Return a line for each change that is open, for whoever has just made it."""
    return [f"{_subject(each)}: the change of its {each.kind} is {each.status}" for each in changes]
