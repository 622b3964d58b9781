"""A record's verdict: accepted, dropped or set aside, always with the reason."""

from typing import Any

import msgspec


class Accepted(msgspec.Struct, frozen=True, gc=False):
    """Fit for readers. `identity` is the record's key within its source; `record` the vertical's own value.

    `encoded` is the record as JSON, made once when it is judged and used wherever it is stored.
    """

    identity: str
    record: Any
    encoded: bytes = b""


class Dropped(msgspec.Struct, frozen=True):
    """Of no use, and we know why. Counted, kept with its raw fields, never published.

    `harmless` marks a drop that says nothing against the page: the event is over, the offer is sold out.
    """

    reason: str
    detail: str = ""
    harmless: bool = False


class Quarantined(msgspec.Struct, frozen=True):
    """Ambiguous: a person decides (fail closed)."""

    reason: str
    detail: str = ""


Verdict = Accepted | Dropped | Quarantined
