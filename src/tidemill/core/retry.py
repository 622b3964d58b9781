"""When to try again: attempts, doubling waits and jitter per class of failure."""

from datetime import timedelta
from enum import StrEnum

import msgspec

LONGEST_RETRY_AFTER = timedelta(hours=24)
"""A longer Retry-After is cut to this."""


class Jitter(StrEnum):
    """How waits are randomised, so that many jobs do not come back at once."""

    NONE = "none"
    FULL = "full"
    ADDED = "added"


class RetryPolicy(msgspec.Struct, frozen=True):
    """`attempts` in all; the wait before the next one starts at `first` and doubles up to `longest`."""

    attempts: int = 3
    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(seconds=30)
    jitter: Jitter = Jitter.FULL

    def wait(self, tries: int, roll: float) -> timedelta:
        """Return the wait after the `tries`-th failed try; `roll` is a random number from 0 to 1."""
        base = min(self.longest, self.first * (1 << min(tries - 1, 20)))
        match self.jitter:
            case Jitter.NONE:
                return base
            case Jitter.FULL:
                return base * roll
            case Jitter.ADDED:
                return base * (1 + roll)


def next_wait(policy: RetryPolicy, tries: int, roll: float, retry_after: timedelta | None) -> timedelta | None:
    """Return how long to wait after `tries` failed tries, or None when there are no attempts left.

    A site's Retry-After can only lengthen the wait.
    """
    if tries >= policy.attempts:
        return None
    wait = policy.wait(tries, roll)
    if retry_after is None:
        return wait
    return max(wait, min(retry_after, LONGEST_RETRY_AFTER))


def timeout_after(base: timedelta, timeouts: int) -> timedelta:
    """Return the time-out for the next try, doubled for each earlier time-out."""
    return base * (1 << min(timeouts, 4))


DEFAULT_RETRY = RetryPolicy()
"""429, 5xx and network errors: three attempts, 1 to 30 s, full jitter."""

DATABASE_RETRY = RetryPolicy(2, timedelta(seconds=10), timedelta(seconds=10), Jitter.NONE)
"""A write that failed is tried once more after 10 s."""

BROWSER_RETRY = RetryPolicy(5, timedelta(seconds=1), timedelta(seconds=16), Jitter.NONE)
"""Browser fetches are tried five times, after 1, 2, 4 and 8 s."""
