"""Entries for the log made into rows: the patch to each state, its checksum, and the labels."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from tidemill.core.live.change import LogEntry
from tidemill.core.snapshots.changes import (
    KEPT_WHOLE,
    NOTHING,
    EncodedState,
    LabelsOf,
    LoggedChange,
    ThingLabels,
    encode_state,
    patch_between,
    plain_labels,
)
from tidemill.store.database.column_types import storable
from tidemill.store.records.live import SequenceTaken

LONGEST_WORDS = 500


class StateOrigin(NamedTuple):
    """Who told a state, field by field as JSON text, when it was read first, and when it was last found the same."""

    source: str
    provenance: str
    changed_at: datetime
    checked_at: datetime


class NewestState(NamedTuple):
    """A thing's newest entry, and the state after it with its origin."""

    seq: int = 0
    state: EncodedState = NOTHING
    origin: StateOrigin | None = None


class PreparedEntry(NamedTuple):
    """An entry with what is derived from it and the state before; `is_new` when the state is another one.

    A move between statuses is no reading: the state keeps the origin that it had.
    """

    entry: LogEntry
    state: EncodedState
    patch: dict[str, Any]
    labels: ThingLabels
    origin: StateOrigin
    is_new: bool


def prepare(
    entries: Sequence[LogEntry], newest: Mapping[int, NewestState], labels: Mapping[str, LabelsOf]
) -> list[PreparedEntry]:
    """Return the entries prepared; raise `SequenceTaken` for one that does not follow, `BadState` for a bad state."""
    latest = dict(newest)
    prepared: list[PreparedEntry] = []
    for entry in entries:
        before = latest.get(entry.thing_id, NewestState())
        if entry.seq != before.seq + 1:
            msg = f"{entry.thing.key}: {entry.seq} does not follow {before.seq}"
            raise SequenceTaken(msg)
        state = encode_state(entry.change.state)
        label = labels.get(entry.thing.vertical, plain_labels)(state.state)
        is_new = state.checksum != before.state.checksum
        origin = _origin(entry) if is_new or before.origin is None else before.origin
        prepared.append(PreparedEntry(entry, state, patch_between(before.state, state), label, origin, is_new))
        latest[entry.thing_id] = NewestState(entry.seq, state, origin)
    return prepared


def _origin(entry: LogEntry) -> StateOrigin:
    provenance = msgspec.json.encode(entry.change.provenance).decode()
    return StateOrigin(entry.source, provenance, entry.read_at, entry.read_at)


def logged_change(prepared: PreparedEntry, offset: int, now: datetime) -> LoggedChange:
    """Return an entry as readers are told of it."""
    entry, change = prepared.entry, prepared.entry.change
    return LoggedChange(
        offset=offset,
        thing=entry.thing,
        thing_id=entry.thing_id,
        seq=entry.seq,
        kind=change.kind,
        patch=msgspec.json.encode(prepared.patch).decode(),
        checksum=prepared.state.checksum,
        status=prepared.labels.status,
        changed_at=entry.read_at,
        logged_at=now,
        source=entry.source,
        skipped=change.skipped,
        reason=storable(change.reason, LONGEST_WORDS),
        was=msgspec.json.encode(change.was).decode(),
        moved_from=entry.moved_from,
        moved_to=entry.moved_to,
    )


def log_row(prepared: PreparedEntry, logged: LoggedChange) -> dict[str, Any]:
    """Return the row of `change_log`."""
    row = msgspec.structs.asdict(logged)
    row["change_offset"] = row.pop("offset")
    row["vertical"], row["key"] = row.pop("thing")
    return row | {"page_id": prepared.entry.page_id, "token": prepared.entry.token}


def snapshot_row(prepared: PreparedEntry, offset: int) -> dict[str, Any]:
    """Return the row of `snapshots`."""
    entry, state = prepared.entry, prepared.state
    return {
        "thing_id": entry.thing_id, "vertical": entry.thing.vertical, "key": entry.thing.key, "seq": entry.seq,
        "change_offset": offset, "state": state.encoded.decode(), "checksum": state.checksum,
        "status": prepared.labels.status, "group_key": prepared.labels.group,
    } | prepared.origin._asdict()  # fmt: skip


def history_rows(prepared: Sequence[PreparedEntry]) -> list[dict[str, Any]]:
    """Return the rows of `snapshot_history`: each new state, of the last few of each thing."""
    last = {each.entry.thing_id: each.entry.seq for each in prepared}
    return [
        {
            "thing_id": each.entry.thing_id, "seq": each.entry.seq, "state": each.state.encoded.decode(),
            "checksum": each.state.checksum, "changed_at": each.entry.read_at,
        }
        for each in prepared
        if each.is_new and each.entry.seq > last[each.entry.thing_id] - KEPT_WHOLE
    ]  # fmt: skip
