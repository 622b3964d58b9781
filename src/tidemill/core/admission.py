"""Back-pressure: how much work may wait, and how scheduling backs off when it may not."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec


class Rejection(StrEnum):
    """Why an enqueue was turned away."""

    QUEUE_FULL = "queue_full"
    ADAPTER_DISABLED = "adapter_disabled"
    RATE_LIMITED = "rate_limited"
    NOT_INSTALLED = "vertical_not_installed"


class QueueLimits(msgspec.Struct, frozen=True):
    """How many jobs may wait, and for how long."""

    per_adapter: int = 1_000
    total: int = 10_000
    retry_after: timedelta = timedelta(minutes=5)
    stale_after: timedelta = timedelta(hours=24)
    longest_backoff: timedelta = timedelta(hours=1)
    alert_backoff: timedelta = timedelta(minutes=30)


class Admission(msgspec.Struct, frozen=True):
    """What an enqueue answers: how many were taken, and for the rest why not and when to come back."""

    accepted: int
    rejected: int = 0
    reason: Rejection | None = None
    retry_after: timedelta | None = None


def admit(wanted: int, pending_adapter: int, pending_total: int, limits: QueueLimits) -> Admission:
    """Take as many as fit under both limits; nothing is dropped silently."""
    room = max(0, min(limits.per_adapter - pending_adapter, limits.total - pending_total))
    accepted = min(wanted, room)
    if accepted == wanted:
        return Admission(accepted)
    return Admission(accepted, wanted - accepted, Rejection.QUEUE_FULL, limits.retry_after)


class Backoff(msgspec.Struct, frozen=True):
    """A pause in scheduling: until when, after how many rejected cycles in a row."""

    until: datetime | None = None
    cycles: int = 0

    def holds(self, now: datetime) -> bool:
        """Whether scheduling should be left alone now."""
        return self.until is not None and now < self.until


def after_cycle(backoff: Backoff, answer: Admission, limits: QueueLimits, now: datetime) -> Backoff:
    """The backoff after a scheduling cycle: over half rejected pauses, doubling each time, an hour at most."""
    offered = answer.accepted + answer.rejected
    if offered == 0 or answer.rejected * 2 <= offered:
        return Backoff()
    base = answer.retry_after or limits.retry_after
    pause = min(limits.longest_backoff, base * (1 << min(backoff.cycles, 20)))
    return Backoff(now + pause, backoff.cycles + 1)


def pause_length(backoff: Backoff, now: datetime) -> timedelta:
    """How long scheduling will still be paused; over `alert_backoff` a person is told."""
    return backoff.until - now if backoff.until is not None and backoff.until > now else timedelta(0)
