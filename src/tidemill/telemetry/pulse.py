"""The pulse: how many pages and errors in the last minute and hour, and how long pages take."""

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
    ServiceDegraded,
    StoreTrouble,
)

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
TIMES_KEPT = 1_000
"""Enough for a steady 95th percentile."""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """What the pulse shows at one moment."""

    errors_last_minute: int = 0
    errors_last_hour: int = 0
    pages_last_minute: int = 0
    pages_last_hour: int = 0
    average_ms: float = 0.0
    p95_ms: float = 0.0


class Second(msgspec.Struct):
    """One second's counts."""

    at: datetime
    pages: int = 0
    errors: int = 0


class Pulse:
    """Counts by the second for an hour: at most 3,600 small cells, whatever the load."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._seconds: deque[Second] = deque()
        self._times: deque[int] = deque(maxlen=TIMES_KEPT)
        self._fired: dict[type, datetime] = {}

    def feel(self, happening: Happening) -> None:
        """The listener."""
        if type(happening) is PageGot:
            self._cell(happening.at).pages += 1
            self._times.append(happening.milliseconds)
        elif type(happening) in SAFETY:
            self._fired[type(happening)] = happening.at
            if is_error(happening):
                self._cell(happening.at).errors += 1

    def _cell(self, at: datetime) -> Second:
        if self._seconds and at - self._seconds[-1].at < timedelta(seconds=1):
            return self._seconds[-1]
        self._seconds.append(Second(at))
        while at - self._seconds[0].at > HOUR:
            self._seconds.popleft()
        return self._seconds[-1]

    def rates(self, now: datetime) -> Rates:
        """The counts up to `now`."""
        hour = [cell for cell in self._seconds if now - cell.at <= HOUR]
        minute = [cell for cell in hour if now - cell.at <= MINUTE]
        times = sorted(self._times)
        return Rates(
            errors_last_minute=sum(cell.errors for cell in minute),
            errors_last_hour=sum(cell.errors for cell in hour),
            pages_last_minute=sum(cell.pages for cell in minute),
            pages_last_hour=sum(cell.pages for cell in hour),
            average_ms=round(fmean(times), 1) if times else 0.0,
            p95_ms=float(times[int(len(times) * 0.95)]) if times else 0.0,
        )

    def fired(self) -> dict[str, datetime | None]:
        """When each safety mechanism last did its work since this process started; None for not yet."""
        return {name: self._fired.get(kind) for kind, name in SAFETY.items()}


SAFETY: dict[type, str] = {
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
}


def is_error(happening: Happening) -> bool:
    """Whether something went wrong: a failed attempt, a dead letter, a database that refused. Waiting is none."""
    return type(happening) in ERRORS or (isinstance(happening, JobWaits) and happening.failure is not None)


ERRORS = frozenset({JobDead, PartCrashed, StoreTrouble})
