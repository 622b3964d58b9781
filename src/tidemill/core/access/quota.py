"""How many requests a token may send in a minute, reading and acting apart."""

from datetime import datetime, timedelta
from typing import NamedTuple

WINDOW = timedelta(minutes=1)
READS_PER_MINUTE = 600
ACTS_PER_MINUTE = 60
MOST_CALLERS = 10_000
"""Windows that are remembered at once; the oldest make room."""


class QuotaState(NamedTuple):
    """What is left of a window after a request: `reset_seconds` until the next one begins."""

    limit: int
    remaining: int
    reset_seconds: int
    is_exceeded: bool


class RequestQuota:
    """Counts requests by caller in windows of a minute, in this process."""

    def __init__(self, reads: int = READS_PER_MINUTE, acts: int = ACTS_PER_MINUTE) -> None:
        """`reads` and `acts` are the limits of a window."""
        self._limits = {False: reads, True: acts}
        self._windows: dict[tuple[str, bool], tuple[datetime, int]] = {}

    def take(self, caller: str, now: datetime, *, acts: bool) -> QuotaState:
        """Count a request, and return whether it is one too many."""
        key = (caller, acts)
        began, used = self._windows.get(key, (now, 0))
        if now - began >= WINDOW:
            began, used = now, 0
        self._windows.pop(key, None)
        while len(self._windows) >= MOST_CALLERS:
            del self._windows[next(iter(self._windows))]
        self._windows[key] = (began, used + 1)
        limit = self._limits[acts]
        reset = max(1, -int(-(began + WINDOW - now).total_seconds() // 1))
        return QuotaState(limit, max(0, limit - used - 1), reset, used >= limit)
