"""A page's raw records as they are stored: compact, because a page is read far more often than looked back at.

What all records of a page share is written once, and a block of structured data is not written at all: the
record's origin says where on the stored page it stands. They are encoded where the page is read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from tidemill.core.pagination import onward_addresses
from tidemill.core.record import Found, RawRecord, Strategy


class KeptReading(msgspec.Struct, frozen=True, array_like=True):
    """A reading as it is stored, and as much of it as the ledger counts: `fields` says how many records have each.

    `next_url` is where the page leads, as `onward_addresses` writes it.
    """

    encoded: bytes
    records: int = 0
    strategy: str = ""
    fields: Mapping[str, int] = msgspec.field(default_factory=dict)
    next_url: str | None = None
    total: int | None = None
    truncated: bool = False


class _Kept(msgspec.Struct, frozen=True, array_like=True, gc=False):
    origin: str
    strategy: Strategy
    confidence: float
    shape: int
    fields: Mapping[str, Any]
    block: str = ""


class _StoredReading(msgspec.Struct, frozen=True, omit_defaults=True):
    records: Sequence[_Kept]
    shapes: Sequence[Mapping[str, str]]
    declared_empty: bool = False
    total: int | None = None
    next_url: str | None = None
    truncated: bool = False
    notes: Sequence[str] = ()
    follow: Sequence[str] = ()


_JSONLD = Strategy.JSONLD
_fields = attrgetter("fields")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_StoredReading).decode


def keep(found: Found, encoded: bytes | None = None) -> KeptReading:
    """Encode a reading once, for the database and for whoever judges it; `encoded` is given if that was done."""
    return KeptReading(
        encode_found(found) if encoded is None else encoded,
        len(found.records),
        found.records[0].strategy if found.records else "",
        count_fields(found.records),
        onward_addresses(found.next_url, found.follow),
        found.total,
        found.truncated,
    )


def count_fields(records: Sequence[RawRecord]) -> dict[str, int]:
    """Count which fields are there; the records of a page have them mostly alike."""
    counts: dict[str, int] = {}
    for names, count in Counter(map(tuple, map(_fields, records))).items():
        for name in names:
            counts[name] = counts.get(name, 0) + count
    return counts


def encode_found(found: Found) -> bytes:
    """A reading as it is stored."""
    shapes: dict[int, int] = {}
    places: list[Mapping[str, str]] = []
    kept: list[Any] = []  # plain tuples in the order of `_Kept`: they are made and written in half the time
    for raw in found.records:
        shape = shapes.get(id(raw.places))
        if shape is None:
            shape = shapes[id(raw.places)] = len(places)
            places.append(raw.places)
        strategy = raw.strategy
        block = "" if strategy is _JSONLD else raw.block
        kept.append((raw.origin, strategy, raw.confidence, shape, raw.fields, block))
    return _encode(
        _StoredReading(
            kept, places, found.declared_empty, found.total, found.next_url, found.truncated, found.notes, found.follow
        )
    )


def decode_found(stored: bytes) -> Found:
    """The reading again."""
    kept = _decode(stored)
    return Found(
        records=[_raw(each, kept.shapes[each.shape]) for each in kept.records],
        declared_empty=kept.declared_empty,
        total=kept.total,
        next_url=kept.next_url,
        truncated=kept.truncated,
        notes=kept.notes,
        follow=kept.follow,
    )


def _raw(kept: _Kept, places: Mapping[str, str]) -> RawRecord:
    return RawRecord(
        fields=kept.fields,
        strategy=kept.strategy,
        confidence=kept.confidence,
        origin=kept.origin,
        places=places,
        block=kept.block,
    )
