"""A change of a watched thing: what the lane commits, and what it is told about the commit."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

State = Mapping[str, Any]
"""What readers see of a thing: plain JSON with text keys, and no null anywhere (absent instead)."""


class ThingKey(NamedTuple):
    """Which thing: its vertical and the vertical's own key for it."""

    vertical: str
    key: str


class ChangeKind(StrEnum):
    """What a log entry tells: the state moved on, the source took something back, or the lifecycle moved."""

    DELTA = "delta"
    CORRECTION = "correction"
    STATUS = "status"


class Provenance(msgspec.Struct, frozen=True):
    """Where a field's value is from, how sure that is (0 to 1), and when it was read."""

    source: str
    confidence: float
    at: datetime


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A new state of a thing, as a vertical's rules decided it from one reading.

    `state` is whole; the store derives the patch. `skipped` counts the steps between the last state and this one that
    nobody saw. A correction has a `reason` and the values that it replaces in `was`. `provenance` is by field.
    """

    state: State
    kind: ChangeKind = ChangeKind.DELTA
    provenance: Mapping[str, Provenance] = msgspec.field(default_factory=dict)
    skipped: int = 0
    reason: str = ""
    was: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Fence(NamedTuple):
    """Proof that a worker still holds a watch: the job, and its fence as of the claim."""

    job_id: int
    fence: int


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry for a thing's append-only log; `seq` is one more than that of the entry before.

    `source` is the name of the source that told, '' where nobody did; `read_at` when its page was asked for, and
    `page_id` the stored page as evidence. A `STATUS` entry has `moved_from` and `moved_to`; its state may be the one
    before. `token` is unique for the entry: whoever commits it again after a lost answer must not write it twice.
    """

    thing_id: int
    thing: ThingKey
    seq: int
    change: Change
    source: str
    read_at: datetime
    token: int
    page_id: int | None = None
    moved_from: str = ""
    moved_to: str = ""


class Appended(msgspec.Struct, frozen=True):
    """An entry that is committed, with its place on the installation's one number line.

    `event` is whatever the store of the log wants to publish after the commit.
    """

    entry: LogEntry
    offset: int
    event: Any = None


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """The newest state of a thing as it is stored; an owner that takes a watch over begins from it."""

    state: State
    seq: int
    changed_at: datetime
    provenance: Mapping[str, Provenance] = msgspec.field(default_factory=dict)


class Commit(msgspec.Struct, frozen=True):
    """Entries of one thing that are written together, and the lease under which they may be."""

    fence: Fence
    entries: Sequence[LogEntry]
