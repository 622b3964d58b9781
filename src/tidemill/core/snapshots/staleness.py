"""How old a thing may be before its readers are told, and how far behind a reader may fall."""

from datetime import datetime, timedelta
from enum import StrEnum

FRESH_LIVE = timedelta(seconds=15)
FRESH_ENDED = timedelta(hours=24)
"""How long the latest snapshot counts as fresh after a check, of a thing in play and of one that is over."""
WARN_AFTER = timedelta(seconds=30)
ERROR_AFTER = timedelta(seconds=120)
NOT_FOUND_KEPT = timedelta(seconds=60)
STATIC_KEPT = timedelta(hours=12)
"""How long it is remembered that a thing does not exist; how long what hardly changes is kept, such as a roster."""
RESUMABLE = timedelta(hours=48)
"""Readers can go on from cursors up to this old; the log itself is kept for good."""

MOST_EVENTS_BEHIND = 32
MOST_BYTES_BEHIND = 64_000
LONGEST_BEHIND = timedelta(seconds=5)


class StaleLevel(StrEnum):
    """How bad it is that a thing has not been checked."""

    WARN = "warn"
    ERROR = "error"


def stale_level(
    checked_at: datetime, now: datetime, *, is_live: bool, rests: timedelta = timedelta(0)
) -> StaleLevel | None:
    """Return how stale a thing is; None while it is fresh, and always None once it is over.

    `rests` is how long it is left alone at a time while it is on a break: a break is fresh and unchanged.
    """
    age = now - checked_at
    if not is_live or age < WARN_AFTER + rests:
        return None
    return StaleLevel.WARN if age < ERROR_AFTER + rests else StaleLevel.ERROR


def is_fresh(checked_at: datetime, now: datetime, *, is_live: bool, rests: timedelta = timedelta(0)) -> bool:
    """Return whether a snapshot may be served without being marked stale."""
    return now - checked_at <= (FRESH_LIVE + rests if is_live else FRESH_ENDED)


def is_too_far_behind(events: int, size: int, waited: timedelta) -> bool:
    """Return whether a reader gets one snapshot in place of the events that wait for it."""
    return events > MOST_EVENTS_BEHIND or size > MOST_BYTES_BEHIND or waited > LONGEST_BEHIND
