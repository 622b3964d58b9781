"""Rates: how many pages and errors in the last minute and hour, and how long pages take."""

from collections import deque
from datetime import datetime, timedelta
from statistics import fmean

import msgspec

from tidemill.pipeline.happenings import (
    AdapterDisabled,
    BreakerMoved,
    ClockJumped,
    DriftNoticed,
    EnqueueRejected,
    Happening,
    JobDead,
    JobRefused,
    JobsRescued,
    JobWaits,
    LeaseLost,
    Overdue,
    PageGot,
    PartCrashed,
    PersonNeeded,
    RecoveryBegun,
    ServiceDegraded,
    StoreTrouble,
)

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DURATIONS_KEPT = 1_000
"""Enough for a steady 95th percentile."""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """The rates at one moment."""

    errors_last_minute: int = 0
    errors_last_hour: int = 0
    pages_last_minute: int = 0
    pages_last_hour: int = 0
    average_ms: float = 0.0
    p95_ms: float = 0.0


class SecondCounts(msgspec.Struct):
    """One second's counts."""

    at: datetime
    pages: int = 0
    errors: int = 0


class RateCounter:
    """Counts by the second for an hour: at most 3,600 small entries, whatever the load."""

    def __init__(self) -> None:
        """Start with no counts."""
        self._seconds: deque[SecondCounts] = deque()
        self._durations: deque[int] = deque(maxlen=DURATIONS_KEPT)
        self._last_fired: dict[type, datetime] = {}

    def count(self, happening: Happening) -> None:
        """Count a happening, if it is a page, an error or a safety mechanism at work."""
        if type(happening) is PageGot:
            self._current_second(happening.at).pages += 1
            self._durations.append(happening.milliseconds)
        elif type(happening) in SAFETY_MECHANISMS:
            self._last_fired[type(happening)] = happening.at
            if is_error(happening):
                self._current_second(happening.at).errors += 1

    def _current_second(self, at: datetime) -> SecondCounts:
        if self._seconds and at - self._seconds[-1].at < timedelta(seconds=1):
            return self._seconds[-1]
        self._seconds.append(SecondCounts(at))
        while at - self._seconds[0].at > HOUR:
            self._seconds.popleft()
        return self._seconds[-1]

    def rates(self, now: datetime) -> Rates:
        """Return the rates up to `now`."""
        hour = [second for second in self._seconds if now - second.at <= HOUR]
        minute = [second for second in hour if now - second.at <= MINUTE]
        durations = sorted(self._durations)
        return Rates(
            errors_last_minute=sum(second.errors for second in minute),
            errors_last_hour=sum(second.errors for second in hour),
            pages_last_minute=sum(second.pages for second in minute),
            pages_last_hour=sum(second.pages for second in hour),
            average_ms=round(fmean(durations), 1) if durations else 0.0,
            p95_ms=float(durations[int(len(durations) * 0.95)]) if durations else 0.0,
        )

    def last_fired(self) -> dict[str, datetime | None]:
        """Return when each safety mechanism last did its work since this process started; None for not yet."""
        return {name: self._last_fired.get(kind) for kind, name in SAFETY_MECHANISMS.items()}


SAFETY_MECHANISMS: dict[type, str] = {
    JobWaits: "wait or retry",
    JobRefused: "refusal",
    JobDead: "dead letter",
    PersonNeeded: "call for a person",
    BreakerMoved: "breaker",
    EnqueueRejected: "full queue",
    LeaseLost: "fence",
    JobsRescued: "rescue",
    StoreTrouble: "store trouble",
    ClockJumped: "clock that was set",
    PartCrashed: "restart after a crash",
    Overdue: "schedule check",
    DriftNoticed: "drift",
    AdapterDisabled: "adapter switched off",
    ServiceDegraded: "fallback of a service",
    RecoveryBegun: "watchdog",
}


def is_error(happening: Happening) -> bool:
    """Whether something went wrong: a failed attempt, a dead letter, a database error; not a mere wait."""
    return type(happening) in ERRORS or (isinstance(happening, JobWaits) and happening.failure is not None)


ERRORS = frozenset({JobDead, PartCrashed, StoreTrouble})
