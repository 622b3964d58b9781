"""Raw records, and the result of reading a page."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.outcome import Fail

MOST_RECORDS = 5_000
"""Records that are taken from one page, unless the settings say otherwise."""


class Strategy(StrEnum):
    """How a record was read, best first."""

    DATASET = "dataset"
    JSONLD = "json-ld"
    MICRODATA = "microdata"
    SELECTORS = "selectors"
    HEURISTICS = "heuristics"


class RawRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One record as the page shows it, nothing interpreted yet.

    `fields` holds plain JSON values under the vertical's own field names; absent fields are absent, not empty.
    `origin` says where on the page the record stands (`json-ld/0/3`, a selector path), `places` where under that
    origin each field was read; strategies share one `places` mapping between records.
    `block` is the piece of markup it came from, bounded to 2,000 characters; of JSON-LD it is left out, because the
    origin names the very object on the stored page.
    """

    fields: Mapping[str, Any]
    strategy: Strategy
    confidence: float
    origin: str
    places: Mapping[str, str] = msgspec.field(default_factory=dict)
    block: str = ""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The page was understood; `records` may be empty only when `declared_empty` says the page says so.

    `total` is the number of records or pages that the site itself claims, when it does; `next_url` the
    following page of a paginated list; `truncated` is set when the page holds more than could be read. `follow` are
    other pages of the site that belong to this one, such as those of its entries; what stands behind the `#` of an
    address is not sent to the site, and tells the adapter how to read that page.
    """

    records: Sequence[RawRecord]
    declared_empty: bool = False
    total: int | None = None
    next_url: str | None = None
    truncated: bool = False
    notes: Sequence[str] = ()
    follow: Sequence[str] = ()


Reading = Found | Fail
