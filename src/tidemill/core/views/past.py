"""Records as they were: the present one with every later line of its history undone."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

ENDED_KINDS = frozenset({"gone", "faded"})
RETURNED = "returned"
WHOLE = ""
"""Under this name a line tells that a whole record was added or removed by a replay, not a field of it."""
ADDED, REMOVED = "added", "removed"
LAST_SEEN = "last_seen_at"
_OF_NO_FIELD = frozenset({WHOLE, LAST_SEEN})


class PastLine(msgspec.Struct, frozen=True):
    """A line of a record's history: what happened, in which run, and field by field what it was and what it is."""

    kind: str
    run_id: int
    changes: Mapping[str, Any]


class Cause(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened to a record, when, and by which run or replay; 0 for neither: it was looked up, or faded."""

    kind: str
    at: datetime
    run_id: int = 0
    replay_id: int | None = None


def field_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return field by field what it was and what it is, also for fields that one of the two does not have."""
    names = dict.fromkeys((*after, *before))
    return {name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)}


def swapped(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that take these back; what is no change of a field stays as it is."""
    return {name: [pair[1], pair[0]] if isinstance(pair, list) else pair for name, pair in changes.items()}


def record_before(record: Mapping[str, Any], lines: Iterable[PastLine]) -> dict[str, Any]:
    """Return a record as it was before these lines, the newest of which comes first."""
    past = dict(record)
    for line in lines:
        if line.kind not in ENDED_KINDS:
            past |= {
                name: pair[0]
                for name, pair in line.changes.items()
                if isinstance(pair, list) and name not in _OF_NO_FIELD
            }
    return past


def was_ended(is_ended: bool, lines: Iterable[PastLine]) -> bool:  # noqa: FBT001 - a fact, not an option
    """Return whether a record had ended, or was not there yet, before these lines, the newest of which comes first."""
    for line in lines:
        whole = line.changes.get(WHOLE)
        if line.kind in ENDED_KINDS:
            is_ended = False
        elif line.kind == RETURNED:
            is_ended = True
        elif isinstance(whole, list):
            is_ended = whole[1] == ADDED or whole[0] == REMOVED
    return is_ended
