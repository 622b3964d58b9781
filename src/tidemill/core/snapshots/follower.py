"""The rules of a reader who follows records: what each event does to the state that it holds.

The reference clients in Python and JavaScript are these rules and a connection.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.snapshots.canonical import canonical, checksum, wire_checksum
from tidemill.core.snapshots.patches import merge


class Followed(msgspec.Struct):
    """A record as a reader holds it; `stale` is the last word about its age, None while it is fresh."""

    state: dict[str, Any]
    seq: int
    checksum: str
    checked_at: str = ""
    stale: dict[str, Any] | None = None


class StreamFollower:
    """Holds the records that a stream tells of; `apply` returns the key of one that must be fetched whole.

    Events may come twice and are then dropped; one that does not follow on what is held is never applied.
    """

    def __init__(self, name: str) -> None:
        """`name` is the field in which events name their record, such as `match`."""
        self._name = name
        self.records: dict[str, Followed] = {}
        self.cursor: str | None = None
        self.resyncs: list[str] = []
        self.gaps = 0

    def apply(self, kind: str, data: dict[str, Any], event_id: str | None) -> str | None:
        """Take in an event; return the key of a record that has a gap, and must be fetched."""
        gap: str | None = None
        match kind:
            case "snapshot":
                self.put(data[self._name], data["state"], data["seq"], data["checksum"], data.get("checked_at", ""))
            case "delta" | "correction" | "status":
                gap = self._patch(data)
            case "stale" | "fresh" if data[self._name] in self.records:
                self.records[data[self._name]].stale = data if kind == "stale" else None
            case "heartbeat":
                self._age(data)
            case "resync":
                self.resyncs.append(data["reason"])
                if data["reason"] != "too_far":
                    self.records.clear()  # numbers of another epoch must not be compared with those to come
        if event_id:
            self.cursor = event_id
        return gap

    def put(self, key: str, state: dict[str, Any], seq: int, digest: str, checked_at: str = "") -> None:
        """Hold a record as a snapshot or a fetch tells it, unless what is held is newer."""
        held = self.records.get(key)
        if held is None or seq >= held.seq:
            self.records[key] = Followed(state, seq, digest, checked_at, held.stale if held else None)

    def _age(self, data: dict[str, Any]) -> None:
        """Take in how long ago each record was checked."""
        at = datetime.fromisoformat(data["at"])
        for key, seconds in data["ages"].items():
            if key in self.records:
                self.records[key].checked_at = (at - timedelta(seconds=seconds)).isoformat()

    def _patch(self, data: dict[str, Any]) -> str | None:
        key = data[self._name]
        held = self.records.get(key) or Followed({}, 0, "")
        if data["seq"] <= held.seq:
            return None
        state = merge(held.state, data["patch"])
        if data["prev"] != held.seq or wire_checksum(checksum(canonical(state))) != data["checksum"]:
            self.gaps += 1
            return str(key)
        checked_at = data.get("checked_at", held.checked_at)
        self.records[key] = Followed(state, data["seq"], data["checksum"], checked_at, held.stale)
        return None
