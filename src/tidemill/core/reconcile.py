"""Several sources about one thing: which of them is believed, field by field.

The source of the higher precedence wins; where it says nothing the next one is asked; among equals the newer word
counts. What a source is not sure of is not listened to at all.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

LEAST_CONFIDENCE = 0.5
"""Claims under this are refused."""


class SourceClaim(msgspec.Struct, frozen=True, kw_only=True):
    """What one source says about the thing, and how much its word weighs."""

    source: str
    precedence: int
    at: datetime
    fields: Mapping[str, Any]
    confidence: float = 1.0


class Chosen(msgspec.Struct, frozen=True):
    """A field as it is believed: whose word it is, since when, and who said otherwise."""

    value: Any
    source: str
    at: datetime
    against: tuple[str, ...] = ()


def is_missing(value: object) -> bool:
    """Whether a source says nothing by this value."""
    return value is None or value in ("", (), [], {})


def reconcile(
    claims: Sequence[SourceClaim], *, missing: Callable[[object], bool] = is_missing, least: float = LEAST_CONFIDENCE
) -> dict[str, Chosen]:
    """Every field that a trusted source speaks of, as it is believed; one of which nobody speaks is left out."""
    heard = in_order([claim for claim in claims if claim.confidence >= least])
    names = dict.fromkeys(name for claim in heard for name in claim.fields)
    chosen: dict[str, Chosen] = {}
    for name in names:
        said = [claim for claim in heard if not missing(claim.fields.get(name))]
        if said:
            first, value = said[0], said[0].fields[name]
            against = tuple(claim.source for claim in said[1:] if claim.fields[name] != value)
            chosen[name] = Chosen(value, first.source, first.at, against)
    return chosen


def in_order(claims: Sequence[SourceClaim]) -> list[SourceClaim]:
    """Whoever is believed first stands first; the source's name settles what nothing else does."""
    return sorted(claims, key=lambda claim: (-claim.precedence, -claim.at.timestamp(), claim.source))
