"""Events of the delta protocol as the bytes that go over the wire (server-sent events)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.live.change import ChangeKind
from tidemill.core.snapshots.canonical import wire_checksum
from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.core.snapshots.cursors import StreamCursor
from tidemill.core.snapshots.staleness import StaleLevel

RETRY = b"retry: 2000\n\n"

_encoder = msgspec.json.Encoder()


def event(kind: str, data: Mapping[str, Any], cursor: StreamCursor | None = None) -> bytes:
    """Return an event; JSON has no line breaks of its own, so that its data is always one line."""
    identity = f"id: {cursor}\n" if cursor is not None else ""
    return b"".join((f"{identity}event: {kind}\ndata: ".encode(), _encoder.encode(data), b"\n\n"))


def change_event(name: str, change: LoggedChange, epoch: str) -> bytes:
    """Return the event of an entry of the log; `name` is the field in which a thing is named.

    A move between statuses takes a sequence number too, so that it tells its patch like any other change.
    """
    data: dict[str, Any] = {
        name: change.thing.key, "seq": change.seq, "prev": change.seq - 1, "patch": msgspec.Raw(change.patch.encode()),
        "checksum": wire_checksum(change.checksum),
    }  # fmt: skip
    if change.kind is not ChangeKind.STATUS:
        data |= {"changed_at": change.changed_at, "checked_at": change.changed_at}
    match change.kind:
        case ChangeKind.STATUS:  # a move is no reading
            data |= {"from": change.moved_from, "to": change.moved_to, "at": change.changed_at}
        case ChangeKind.CORRECTION:
            was = msgspec.Raw(change.was.encode())
            data |= {"source": change.source, "skipped": change.skipped, "reason": change.reason, "was": was}
        case ChangeKind.DELTA:
            data |= {"source": change.source, "skipped": change.skipped}
    return event(change.kind.value, data, StreamCursor(epoch, change.offset))


def snapshot_event(
    name: str, found: ThingSnapshot, checked_at: datetime, cursor: StreamCursor | None, *, conflated: bool = False
) -> bytes:
    """Return the event of a whole state. Of a group only the last has a cursor: a cut within it must begin it anew."""
    data = {
        name: found.thing.key, "seq": found.seq, "state": msgspec.Raw(found.encoded),
        "checksum": wire_checksum(found.checksum), "checked_at": checked_at, "changed_at": found.changed_at,
        "conflated": conflated,
    }  # fmt: skip
    return event("snapshot", data, cursor)


def stale_event(name: str, key: str, since: datetime, now: datetime, level: StaleLevel, reason: str) -> bytes:
    """Return the event that a thing has not been checked for too long."""
    age = round((now - since).total_seconds(), 1)
    return event("stale", {name: key, "since": since, "age": age, "level": level.value, "reason": reason})


def fresh_event(name: str, key: str, since: datetime, now: datetime) -> bytes:
    """Return the event that a thing is checked again."""
    return event("fresh", {name: key, "since": since, "age": round((now - since).total_seconds(), 1)})
