"""A page's raw records as they are stored: compact, because a page is read far more often than looked back at.

What all records of a page share is written once, and a block of structured data is not written at all: the
record's origin says where on the stored page it stands.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidemill.core.record import Found, RawRecord, Strategy


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


_JSONLD = Strategy.JSONLD
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_StoredReading).decode


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
        _StoredReading(kept, places, found.declared_empty, found.total, found.next_url, found.truncated, found.notes)
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
