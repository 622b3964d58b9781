"""A small made-up kind of thing that changes within seconds: a tally of points per side, with a status."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rig.clock import NOON
from tidemill.core.live.change import Appended, Change, ChangeKind, LogEntry, ThingKey
from tidemill.store.database.database import Database
from tidemill.store.snapshots.log import SnapshotLog

VERTICAL = "tallies"


class TallyWriter:
    """Writes changes of tallies as the owner of a watch would: one transaction each, published after the commit."""

    def __init__(self, database: Database, log: SnapshotLog | None = None, vertical: str = VERTICAL) -> None:
        self.database = database
        self.log = log or SnapshotLog(database)
        self.vertical = vertical
        self.states: dict[str, dict[str, Any]] = {}
        self.seqs: dict[str, int] = {}
        self._token = 0

    def entry(self, key: str, state: Mapping[str, Any], seq: int, at: datetime = NOON, **other: Any) -> LogEntry:
        fields = {name: other.pop(name) for name in ("kind", "skipped", "reason", "was", "provenance") if name in other}
        self._token += 1
        number = int.from_bytes(key.encode()[-6:], "big")
        known = {"thing_id": number, "thing": ThingKey(self.vertical, key), "source": "site", "read_at": at}
        known |= {"token": number * 100_000 + self._token}
        return LogEntry(**{**known, "seq": seq, "change": Change(state=dict(state), **fields), **other})

    async def write(self, key: str, state: Mapping[str, Any], at: datetime = NOON, **other: Any) -> Appended:
        seq = self.seqs.get(key, 0) + 1
        [appended] = await self.append([self.entry(key, state, seq, at, **other)], at)
        self.states[key], self.seqs[key] = dict(state), seq
        return appended

    async def append(self, entries: Sequence[LogEntry], at: datetime = NOON) -> list[Appended]:
        async with self.database.write() as connection:
            appended = await self.log.append(connection, entries, at)
        self.log.publish(appended)
        return appended

    async def score(self, key: str, points: int, at: datetime = NOON, **other: Any) -> Appended:
        """Set the points of a tally that is live, and note each one like a ball."""
        state = self.states.get(key, {"status": "live", "title": f"Tally {key}", "score": {"home": 0}, "notes": {}})
        noted = {**state["notes"], f"1.{points}": points}
        return await self.write(key, {**state, "score": {"home": points}, "notes": noted}, at, **other)

    async def move(self, key: str, before: str, after: str, at: datetime = NOON, **other: Any) -> Appended:
        """Move the tally between statuses without another state."""
        state = other.pop("state", self.states.get(key, {}))
        return await self.write(
            key, state, at, kind=ChangeKind.STATUS, moved_from=before, moved_to=after, source="", **other
        )
