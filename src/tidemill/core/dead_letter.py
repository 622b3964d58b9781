"""Dead letters: jobs that failed for good, and when each is tried again."""

from datetime import datetime, timedelta
from enum import StrEnum

from tidemill.core.failure import Failure

FIRST_RETRY = timedelta(hours=1)
MAX_RETRIES = 3
ALERT_ABOVE = 50
"""Pending dead letters above which a person is alerted."""


class DeadLetterStatus(StrEnum):
    """Where a dead letter stands; it is never discarded by itself."""

    PENDING = "pending"
    RETRYING = "retrying"
    RESOLVED = "resolved"
    DISCARDED = "discarded"


NEVER_BY_ITSELF = frozenset({Failure.PAGE_TOO_HARD})
"""The same stored page would be as hard again: a person decides, or a better adapter comes."""


def next_retry(retries: int, now: datetime, failure: Failure | None = None) -> datetime | None:
    """Return the time of the next automatic retry: after 1 h, 2 h, 4 h; None when it waits for a person."""
    if retries >= MAX_RETRIES or failure in NEVER_BY_ITSELF:
        return None
    return now + FIRST_RETRY * (1 << retries)
