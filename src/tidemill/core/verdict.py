"""A record's verdict: accepted, dropped or quarantined, with the reason."""

import hashlib
from typing import Any

import msgspec


class Accepted(msgspec.Struct, frozen=True, gc=False):
    """A record to publish. `identity` is its key within its source; `record` the vertical's own value.

    `encoded` is the record as JSON, encoded once when it is judged and used wherever it is stored.
    """

    identity: str
    record: Any
    encoded: bytes = b""


class Dropped(msgspec.Struct, frozen=True):
    """A record that is not published, for a known reason; it is counted and kept with its raw fields.

    `harmless` marks a drop that is no fault of the page: the event is over, the offer is sold out.
    """

    reason: str
    detail: str = ""
    harmless: bool = False


class Quarantined(msgspec.Struct, frozen=True):
    """An ambiguous record that waits for a person's decision (fail closed).

    `subject` names what the record is about within its source: later readings of the same subject for the same
    reason update one open row. Empty when the rule cannot tell; the record's address and title are used then.
    """

    reason: str
    detail: str = ""
    subject: str = ""


Verdict = Accepted | Dropped | Quarantined


def is_fault(verdict: Dropped | Quarantined) -> bool:
    """Return whether a rejection means that something is wrong with the record, not just that it is not wanted."""
    return isinstance(verdict, Quarantined) or not verdict.harmless


def subject_key(*parts: str) -> str:
    """Return a short, stable name for what these texts identify."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
