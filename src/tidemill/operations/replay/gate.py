"""The gate's periodic work: notice new versions of adapters, and replay whatever waits for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidemill.core.replay.reading_version import ReadingVersion, reading_version
from tidemill.core.replay.views import ChangeStatus, ReadingChange, ReadingChangeKind, is_of_code
from tidemill.core.vertical import Vertical, installed_version
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
        differing = {
            name: version for name, version in known.items() if not reading_version(accepted[name]).is_alike(version)
        }
        first |= {
            name: version
            for name, version in known.items()
            if version.code and not reading_version(accepted[name]).code and name not in differing
        }
        if not self.is_on:
            await changes.record_versions(_as_text({**first, **differing}), GATE, now)
            return len(first), 0
        await changes.record_versions(_as_text(first), GATE, now)
        opened = 0
        for name, version in differing.items():
            last = await changes.newest_version_change(name)
            before = str(reading_version(accepted[name])._replace(exact=False))
            is_known = last is not None and last.after == str(version) and last.before == before
            if not is_known or (last is not None and last.status is ChangeStatus.SUPERSEDED):
                await changes.open_version(name, before, str(version), now)
                opened += 1
        return len(first), opened

    async def _installed(self) -> dict[str, ReadingVersion]:
        """Return the versions that are installed here of adapters that read something."""
        found: dict[str, ReadingVersion] = {}
        for vertical, name in await self.actions.changes.adapters_in_use():
            known = self.verticals.get(vertical)
            version = None if known is None else installed_version(known, name)
            if version is not None:
                found[name] = version
        return found

    def _tell(self, change: ReadingChange, replay_id: int, why: str) -> None:
        what = (
            f"{'other code of ' if is_of_code(change) else ''}version {change.after}"
            if change.kind is ReadingChangeKind.VERSION
            else "new selectors"
        )
        words = f"{what} held at the gate, replay {replay_id} waits for a person: {why}"
        adapter, source = change.adapter_id, change.source_id or 0
        self.announce(DriftNoticed(self.clock.now(), 0, source, adapter, RULE, "", words, is_over=False))


def _as_text(versions: Mapping[str, ReadingVersion]) -> dict[str, str]:
    return {name: str(version) for name, version in versions.items()}
