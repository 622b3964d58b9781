"""The gate's periodic work: notice new versions of adapters, and replay whatever waits for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemill.core.replay.views import ChangeStatus, ReadingChange, ReadingChangeKind
from tidemill.core.vertical import Vertical
from tidemill.operations.replay.actions import ReplayActions
from tidemill.pipeline.happenings import Announce, DriftNoticed
from tidemill.pipeline.ports import Clock

GATE = "the gate"
"""Who lets changes pass that no person has to look at."""
RULE = "gate"


@dataclass(frozen=True, slots=True)
class ReadingGate:
    """Watches over changes of reading; with `is_on` False every installed version is accepted as it is."""

    actions: ReplayActions
    verticals: Mapping[str, Vertical]
    clock: Clock
    announce: Announce
    is_on: bool

    async def work(self) -> str:
        """Record first versions, let new ones and changed selectors go through, and say what came of it."""
        first, opened = await self._notice_versions()
        passed = held = 0
        for change in await self.actions.changes.every(status=ChangeStatus.CHECKING):
            replay_id = await self.actions.check(change, GATE)
            settled = await self.actions.find(replay_id)
            passed += settled.change is ChangeStatus.PASSED
            if settled.change is ChangeStatus.WAITING:
                held += 1
                self._tell(change, replay_id, "; ".join(settled.held_because))
        return f"{first} first versions, {opened} new ones, {passed} changes passed, {held} held"

    async def _notice_versions(self) -> tuple[int, int]:
        changes, now = self.actions.changes, self.clock.now()
        accepted = await changes.versions()
        installed = await self._installed()
        known = {name: version for name, version in installed.items() if name in accepted}
        first = {name: version for name, version in installed.items() if name not in accepted}
        differing = {name: version for name, version in known.items() if accepted[name] != version}
        if not self.is_on:
            await changes.record_versions({**first, **differing}, GATE, now)
            return len(first), 0
        await changes.record_versions(first, GATE, now)
        opened = 0
        for name, version in differing.items():
            last = await changes.newest_version_change(name)
            is_known = last is not None and last.after == version and last.before == accepted[name]
            if not is_known or (last is not None and last.status is ChangeStatus.SUPERSEDED):
                await changes.open_version(name, accepted[name], version, now)
                opened += 1
        return len(first), opened

    async def _installed(self) -> dict[str, str]:
        """Return the versions that are installed here of adapters that read something."""
        found = {}
        for vertical, name in await self.actions.changes.adapters_in_use():
            known = self.verticals.get(vertical)
            adapter = None if known is None else known.adapters.get(name)
            if adapter is not None:
                found[name] = adapter.version
        return found

    def _tell(self, change: ReadingChange, replay_id: int, why: str) -> None:
        what = f"version {change.after}" if change.kind is ReadingChangeKind.VERSION else "new selectors"
        words = f"{what} held at the gate, replay {replay_id} waits for a person: {why}"
        adapter, source = change.adapter_id, change.source_id or 0
        self.announce(DriftNoticed(self.clock.now(), 0, source, adapter, RULE, "", words, is_over=False))
