"""Back-pressure: how many jobs may wait, and how an adapter's scheduling backs off when its queue is full."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec


class Rejection(StrEnum):
    """Why targets were not enqueued."""

    QUEUE_FULL = "queue_full"
    ADAPTER_DISABLED = "adapter_disabled"
    RATE_LIMITED = "rate_limited"
    NOT_INSTALLED = "vertical_not_installed"


class QueueLimits(msgspec.Struct, frozen=True):
    """How many jobs may wait, and for how long.

    The defaults fit 500 hosts of one adapter: 40 pages each, over a minute's work at half a page a second.
    """

    per_adapter: int = 20_000
    total: int = 50_000
    retry_after: timedelta = timedelta(minutes=5)
    stale_after: timedelta = timedelta(hours=24)
    longest_backoff: timedelta = timedelta(hours=1)
    alert_backoff: timedelta = timedelta(minutes=30)


class Admission(msgspec.Struct, frozen=True):
    """The result of an enqueue: how many were accepted, and for the rest why not and when to retry.

    `by_adapter` gives the counts of each adapter, where several were asked for.
    """

    accepted: int
    rejected: int = 0
    reason: Rejection | None = None
    retry_after: timedelta | None = None
    by_adapter: Mapping[str, "Admission"] = msgspec.field(default_factory=dict)


def admit(wanted: int, pending_adapter: int, pending_total: int, limits: QueueLimits) -> Admission:
    """Accept as many as fit under both limits, and report the rest."""
    room = max(0, min(limits.per_adapter - pending_adapter, limits.total - pending_total))
    accepted = min(wanted, room)
    if accepted == wanted:
        return Admission(accepted)
    return Admission(accepted, wanted - accepted, Rejection.QUEUE_FULL, limits.retry_after)


ROOM = 0.1
"""The share of an adapter's limit that must be free for its pause to be over before its time."""


def has_room(pending_adapter: int, pending_total: int, limits: QueueLimits) -> bool:
    """Return whether enough of an adapter's queue is free to schedule it again."""
    own, overall = limits.per_adapter - pending_adapter, limits.total - pending_total
    return own > 0 and overall > 0 and own >= limits.per_adapter * ROOM


def workers_to_wake(ready: int, jobs_per_worker: int, most: int) -> int:
    """Return how many workers ready jobs are worth: one per so many, up to a limit, none for none."""
    return min(most, -(-ready // jobs_per_worker))


class Backoff(msgspec.Struct, frozen=True):
    """A pause in an adapter's scheduling: until when, after how many rejected cycles in a row."""

    until: datetime | None = None
    cycles: int = 0

    def is_active(self, now: datetime) -> bool:
        """Return whether scheduling is paused now."""
        return self.until is not None and now < self.until


def backoff_after(backoff: Backoff, answer: Admission, limits: QueueLimits, now: datetime) -> Backoff:
    """Return an adapter's backoff after a cycle: over half rejected pauses it, twice as long each time to a limit."""
    offered = answer.accepted + answer.rejected
    if offered == 0 or answer.rejected * 2 <= offered:
        return Backoff()
    base = answer.retry_after or limits.retry_after
    pause = min(limits.longest_backoff, base * (1 << min(backoff.cycles, 20)))
    return Backoff(now + pause, backoff.cycles + 1)


Backoffs = Mapping[str, Backoff]
"""The pauses by adapter; an adapter without one is scheduled."""


def remaining_pause(backoff: Backoff, now: datetime) -> timedelta:
    """Return how much longer an adapter is paused; over `alert_backoff` a person is alerted."""
    return backoff.until - now if backoff.until is not None and backoff.until > now else timedelta(0)
