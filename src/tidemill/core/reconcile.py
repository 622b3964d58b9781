"""Merging what several sources say about one thing, field by field.

The source of the higher precedence wins; where it has no value the next one is used; among equals the newer value
wins. Values of low confidence are ignored.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

LEAST_CONFIDENCE = 0.5
"""Claims under this are ignored."""


class SourceClaim(msgspec.Struct, frozen=True, kw_only=True):
    """One source's values, with its precedence and confidence."""

    source: str
    precedence: int
    at: datetime
    fields: Mapping[str, Any]
    confidence: float = 1.0


class ReconciledField(msgspec.Struct, frozen=True):
    """A merged field: its value, the source and time it comes from, and the sources that disagree."""

    value: Any
    source: str
    at: datetime
    disagreeing: tuple[str, ...] = ()


def is_missing(value: object) -> bool:
    """Return whether a value counts as absent."""
    return value is None or value in ("", (), [], {})


def reconcile(
    claims: Sequence[SourceClaim], *, missing: Callable[[object], bool] = is_missing, least: float = LEAST_CONFIDENCE
) -> dict[str, ReconciledField]:
    """Return the merged value of every field that a trusted source has; a field without any value is left out."""
    trusted = by_precedence([claim for claim in claims if claim.confidence >= least])
    names = dict.fromkeys(name for claim in trusted for name in claim.fields)
    chosen: dict[str, ReconciledField] = {}
    for name in names:
        stated = [claim for claim in trusted if not missing(claim.fields.get(name))]
        if stated:
            first, value = stated[0], stated[0].fields[name]
            disagreeing = tuple(claim.source for claim in stated[1:] if claim.fields[name] != value)
            chosen[name] = ReconciledField(value, first.source, first.at, disagreeing)
    return chosen


def by_precedence(claims: Sequence[SourceClaim]) -> list[SourceClaim]:
    """Return claims by precedence, then newest first, then by source name."""
    return sorted(claims, key=lambda claim: (-claim.precedence, -claim.at.timestamp(), claim.source))
