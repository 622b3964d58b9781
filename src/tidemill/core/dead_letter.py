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


FOR_A_PERSON = frozenset(
    {Failure.DNS_FAILED, Failure.TLS_FAILED, Failure.ADDRESS_REFUSED, Failure.BAD_URL, Failure.PAGE_TOO_HARD}
)
"""A wrong name, certificate or address, or a page that would be as hard again: a retry by itself changes nothing."""


def next_retry(retries: int, now: datetime, failure: str = "") -> datetime | None:
    """Return the time of the next automatic retry: after 1 h, 2 h, 4 h; None when it waits for a person."""
    if retries >= MAX_RETRIES or failure in FOR_A_PERSON:
        return None
    return now + FIRST_RETRY * (1 << retries)
