"""Verification of a record at its own URL: there, gone, or unknown."""

from enum import StrEnum

import msgspec

from tidemill.core.source import Source


class Presence(StrEnum):
    """Whether a record is still shown; UNKNOWN says nothing about it."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "could not tell"


class VerificationCheck(msgspec.Struct, frozen=True):
    """A record to be verified at the URL under which one source shows it."""

    listing_id: int
    sighting_id: int
    url: str
    source: Source
    confidence: int


class VerificationResult(msgspec.Struct, frozen=True):
    """The result of verifying one source's URL of a record."""

    listing_id: int
    sighting_id: int
    presence: Presence
    detail: str


GONE_STATUSES = frozenset({404, 410})


def presence_from_answer(status_code: int, *, clean: bool, notice: str) -> tuple[Presence, str]:
    """Return what a response means: a clean 200 is there; 404, 410 or a removal notice is gone; else unknown."""
    if status_code in GONE_STATUSES:
        return Presence.GONE, f"answered {status_code}"
    if not clean:
        return Presence.UNKNOWN, f"answered {status_code}" if status_code else "no answer"
    return (Presence.GONE, f"says: {notice}") if notice else (Presence.THERE, "still shown")
