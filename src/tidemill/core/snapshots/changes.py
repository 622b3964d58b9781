"""Snapshots of things and the log of what changed between them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from tidemill.core.live.change import ChangeKind, Provenance, State, ThingKey
from tidemill.core.snapshots.canonical import canonical, checksum, plain
from tidemill.core.snapshots.patches import diff

KEPT_WHOLE = 5
"""Snapshots of a thing that are kept whole; every older one can be made again from the log."""


class ThingLabels(NamedTuple):
    """What lists and streams choose things by."""

    status: str = ""
    group: str = ""


LabelsOf = Callable[[State], ThingLabels]


def plain_labels(state: State) -> ThingLabels:
    """Return the labels of a state that has its status in a field of that name, and no groups."""
    status = state.get("status", "")
    return ThingLabels(status if isinstance(status, str) else "")


class EncodedState(NamedTuple):
    """A state as plain JSON values, as canonical JSON, and the sha256 of that."""

    state: dict[str, Any]
    encoded: bytes
    checksum: str


NOTHING = EncodedState({}, b"{}", "")
"""What was there before the first state."""


def encode_state(state: State) -> EncodedState:
    """Return a state in every form in which it is kept; raise `BadState` for one that cannot be."""
    values = plain(state)
    encoded = canonical(values)
    return EncodedState(values, encoded, checksum(encoded))


def decode_state(encoded: bytes, digest: str) -> EncodedState:
    """Return a state that was kept."""
    return EncodedState(msgspec.json.decode(encoded), encoded, digest)


def patch_between(before: EncodedState, after: EncodedState) -> dict[str, Any]:
    """Return what turns one state into the next, in plain JSON; null removes."""
    return {} if before.checksum == after.checksum else diff(before.state, after.state)


class ThingSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The whole state of a thing after the entry `seq` of its log.

    `encoded` is the state as canonical JSON, `checksum` its sha256. `offset` is the entry's place in the order of
    commits of this installation. `checked_at` is when a reading last went well, changed or not; `trouble` says why
    there is none newer, '' while all is well.
    """

    thing: ThingKey
    thing_id: int
    seq: int
    offset: int
    encoded: bytes
    checksum: str
    changed_at: datetime
    checked_at: datetime
    labels: ThingLabels
    source: str = ""
    provenance: Mapping[str, Provenance] = msgspec.field(default_factory=dict)
    trouble: str = ""

    @property
    def state(self) -> dict[str, Any]:
        """The state itself, decoded anew."""
        decoded: dict[str, Any] = msgspec.json.decode(self.encoded)
        return decoded


class LoggedChange(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the log as readers are told of it; `patch` and `was` are JSON text.

    `seq` is one more than the entry's before. `status` is the thing's status after it.
    """

    offset: int
    thing: ThingKey
    thing_id: int
    seq: int
    kind: ChangeKind
    patch: str
    checksum: str
    status: str
    changed_at: datetime
    logged_at: datetime
    source: str = ""
    skipped: int = 0
    reason: str = ""
    was: str = "{}"
    moved_from: str = ""
    moved_to: str = ""
