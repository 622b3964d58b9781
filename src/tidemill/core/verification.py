"""Looking a fading record up: there, gone, or could not tell."""

from enum import StrEnum

import msgspec

from tidemill.core.source import Source


class Fate(StrEnum):
    """The three answers; the third says nothing about the record."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "could not tell"


class VerificationCheck(msgspec.Struct, frozen=True):
    """A record to be looked up, at the address under which its source shows it: one sighting of it."""

    listing_id: int
    sighting_id: int
    url: str
    source: Source
    confidence: int


class VerificationResult(msgspec.Struct, frozen=True):
    """What was found of a record where this sighting says that it is."""

    listing_id: int
    sighting_id: int
    fate: Fate
    words: str


GONE_STATUSES = frozenset({404, 410})


def fate_of(status_code: int, *, clean: bool, notice: str) -> tuple[Fate, str]:
    """What an answer means: only a clean 200 is there, only 404, 410 or a removal notice is gone."""
    if status_code in GONE_STATUSES:
        return Fate.GONE, f"answered {status_code}"
    if not clean:
        return Fate.UNKNOWN, f"answered {status_code}" if status_code else "no answer"
    return (Fate.GONE, f"says: {notice}") if notice else (Fate.THERE, "still shown")
