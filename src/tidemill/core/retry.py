"""When to try again: attempts, doubling waits and jitter per class of failure."""

from datetime import timedelta
from enum import StrEnum

import msgspec

LONGEST_RETRY_AFTER = timedelta(hours=24)
"""However long a site asks us to stay away, we look again within a day."""


class Jitter(StrEnum):
    """How chance spreads the waits, so that many jobs do not come back at once."""

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
        """The wait after the `tries`-th failed try; `roll` is a number from 0 to 1."""
        base = min(self.longest, self.first * (1 << min(tries - 1, 20)))
        match self.jitter:
            case Jitter.NONE:
                return base
            case Jitter.FULL:
                return base * roll
            case Jitter.ADDED:
                return base * (1 + roll)


def next_wait(policy: RetryPolicy, tries: int, roll: float, retry_after: timedelta | None) -> timedelta | None:
    """How long to wait after `tries` failed tries, or None when the road ends here.

    A site's own Retry-After is a floor, never a reason to come sooner.
    """
    if tries >= policy.attempts:
        return None
    wait = policy.wait(tries, roll)
    if retry_after is None:
        return wait
    return max(wait, min(retry_after, LONGEST_RETRY_AFTER))


def patience(base: timedelta, timeouts: int) -> timedelta:
    """The time-out for the next try: twice as long after each time-out before it."""
    return base * (1 << min(timeouts, 4))


BRIEF = RetryPolicy()
"""429, 5xx and network errors: three attempts, 1 to 30 s, full jitter."""

DATABASE_WRITE = RetryPolicy(2, timedelta(seconds=10), timedelta(seconds=10), Jitter.NONE)
"""A write that failed is tried once more after 10 s."""

BROWSER_WORK = RetryPolicy(5, timedelta(seconds=1), timedelta(seconds=16), Jitter.NONE)
"""What a browser did not bring is tried five times, after 1, 2, 4 and 8 s."""
