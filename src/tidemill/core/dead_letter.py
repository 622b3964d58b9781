"""Dead letters: what a job that ran out of road leaves behind, and when it is tried again."""

from datetime import datetime, timedelta
from enum import StrEnum

FIRST_RETRY = timedelta(hours=1)
MAX_RETRIES = 3
ALERT_ABOVE = 50
"""Letters pending before a person is told."""


class DeadLetterStatus(StrEnum):
    """Where a dead letter stands; it is never discarded by itself."""

    PENDING = "pending"
    RETRYING = "retrying"
    RESOLVED = "resolved"
    DISCARDED = "discarded"


def next_retry(retries: int, now: datetime) -> datetime | None:
    """When to try again by ourselves: after 1 h, then 2 h, then 4 h; after that it waits for a person."""
    if retries >= MAX_RETRIES:
        return None
    return now + FIRST_RETRY * (1 << retries)
