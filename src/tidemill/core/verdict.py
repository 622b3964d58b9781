"""A record's verdict: accepted, dropped or quarantined, with the reason."""

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
    """An ambiguous record that waits for a person's decision (fail closed)."""

    reason: str
    detail: str = ""


Verdict = Accepted | Dropped | Quarantined
