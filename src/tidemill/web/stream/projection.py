"""Streams of some fields only: what of a state a reader sees, and how it gets from one such view to the next."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tidemill.core.live.change import ChangeKind
from tidemill.core.snapshots.canonical import wire_checksum
from tidemill.core.snapshots.changes import EncodedState, LoggedChange, ThingSnapshot, encode_state, patch_between
from tidemill.core.snapshots.cursors import StreamCursor
from tidemill.core.snapshots.wire import event


class FieldProjection:
    """What one reader sees of each thing; changes of other fields are not told, and `prev` follows what was told."""

    def __init__(self, name: str, fields: Sequence[str]) -> None:
        """`fields` are names at the top of a state."""
        self._name = name
        self._fields = fields
        self._told: dict[str, tuple[int, EncodedState]] = {}

    def whole(self, found: ThingSnapshot) -> ThingSnapshot:
        """Return a snapshot with these fields only, and its checksum."""
        seen = self._seen(found)
        self._told[found.thing.key] = (found.seq, seen)
        return msgspec.structs.replace(found, encoded=seen.encoded, checksum=seen.checksum)

    def can_follow(self, found: ThingSnapshot) -> bool:
        """Whether a change can be told as one: the reader has been told of the thing, or it is new to everybody."""
        return found.seq == 1 or found.thing.key in self._told

    def deltas(self, found: Iterable[ThingSnapshot], changes: Sequence[LoggedChange], epoch: str) -> bytes:
        """Return the events that lead from what was told to what is there now."""
        parts = (self._delta(each, changes, epoch) for each in found)
        return b"".join(part for part in parts if part)

    def _seen(self, found: ThingSnapshot) -> EncodedState:
        state = found.state
        return encode_state({field: state[field] for field in self._fields if field in state})

    def _delta(self, found: ThingSnapshot, changes: Sequence[LoggedChange], epoch: str) -> bytes:
        seen = self._seen(found)
        prev, before = self._told.get(found.thing.key, (0, encode_state({})))
        mine = [change for change in changes if change.thing == found.thing]
        kinds = {change.kind for change in mine}
        if found.seq <= prev or (before.checksum == seen.checksum and ChangeKind.STATUS not in kinds):
            return b""
        self._told[found.thing.key] = (found.seq, seen)
        data: dict[str, Any] = {
            self._name: found.thing.key, "seq": found.seq, "prev": prev, "patch": patch_between(before, seen),
            "checksum": wire_checksum(seen.checksum), "changed_at": found.changed_at, "checked_at": found.checked_at,
            "source": found.source, "skipped": sum(change.skipped for change in mine),
        }  # fmt: skip
        kind = ChangeKind.DELTA
        for change in mine:
            if change.kind is ChangeKind.CORRECTION and kind is ChangeKind.DELTA:
                kind = change.kind
                data |= {"reason": change.reason, "was": msgspec.Raw(change.was.encode())}
            elif change.kind is ChangeKind.STATUS:
                kind = change.kind
                data |= {"from": change.moved_from, "to": change.moved_to}
        return event(kind.value, data, StreamCursor(epoch, max([found.offset, *(each.offset for each in mine)])))
