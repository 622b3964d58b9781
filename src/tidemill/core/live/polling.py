"""When to poll a page next: by its thing's phase, by how often it changes, and slower after errors."""

from datetime import datetime, timedelta
from enum import IntEnum

import msgspec

from tidemill.core.live.rules import Outlook, Phase

IMMINENT_WITHIN = timedelta(hours=1)
QUIET = timedelta(minutes=5)
"""So long without an error, and the errors before are forgotten."""
CHANGES_REMEMBERED = 10
"""Polls over which the share of changes is taken."""
ERROR_STEPS = ((20, timedelta(seconds=20)), (10, timedelta(seconds=10)), (5, timedelta(seconds=5)))
"""From so many errors on, a page is polled no more often than this."""


class LiveUrgency(IntEnum):
    """Who is polled first where a host's pace does not suffice for all."""

    LIVE = 0
    IMMINENT = 1
    COMPLETED = 2


class PollPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The intervals of polling by phase; `is_adaptive` lets pages that keep changing be polled a little sooner."""

    in_play: timedelta = timedelta(seconds=2.5)
    busy: timedelta = timedelta(seconds=2)
    on_break: timedelta = timedelta(seconds=30)
    imminent: timedelta = timedelta(seconds=60)
    completed: timedelta = timedelta(minutes=5)
    lists: timedelta = timedelta(seconds=60)
    is_adaptive: bool = True


class PollHistory(msgspec.Struct, frozen=True):
    """What the next interval depends on: whether the last polls changed something, and the errors of late.

    `changes` has one bit per poll, the newest lowest; `polls` counts those in it.
    """

    changes: int = 0
    polls: int = 0
    errors: int = 0
    last_error_at: datetime | None = None

    @property
    def is_busy(self) -> bool:
        """Whether over half of the last polls changed something."""
        return self.polls == CHANGES_REMEMBERED and 2 * self.changes.bit_count() > CHANGES_REMEMBERED


_BITS = (1 << CHANGES_REMEMBERED) - 1


def after_poll(history: PollHistory, *, changed: bool) -> PollHistory:
    """Return the history after a poll that went well."""
    if not changed and not history.changes and history.polls == CHANGES_REMEMBERED:
        return history
    changes = (history.changes << 1 | changed) & _BITS
    polls = min(CHANGES_REMEMBERED, history.polls + 1)
    return PollHistory(changes, polls, history.errors, history.last_error_at)


def after_error(history: PollHistory, now: datetime) -> PollHistory:
    """Return the history after a failed try; errors before five quiet minutes no longer count."""
    return PollHistory(history.changes, history.polls, recent_errors(history, now) + 1, now)


def recent_errors(history: PollHistory, now: datetime) -> int:
    """Return the errors that still count."""
    at = history.last_error_at
    return history.errors if at is not None and now - at < QUIET else 0


def urgency_of(outlook: Outlook, now: datetime) -> LiveUrgency:
    """Return a thing's class: live, about to start, or the rest."""
    match outlook.phase:
        case Phase.IN_PLAY | Phase.BREAK | Phase.UNKNOWN:
            return LiveUrgency.LIVE
        case Phase.UPCOMING if is_imminent(outlook.starts_at, now):
            return LiveUrgency.IMMINENT
        case _:
            return LiveUrgency.COMPLETED


def is_imminent(starts_at: datetime | None, now: datetime) -> bool:
    """Return whether a thing that has not started does so within the hour, or should have."""
    return starts_at is not None and starts_at - now <= IMMINENT_WITHIN


def interval_for(outlook: Outlook, history: PollHistory, policy: PollPolicy, now: datetime) -> timedelta:
    """Return the time between two polls of a page. Unchanged polls never make it longer; errors do."""
    wanted = _usual(outlook, history, policy, now)
    if not history.errors:
        return wanted
    errors = recent_errors(history, now)
    slower = next((step for least, step in ERROR_STEPS if errors >= least), wanted)
    return max(wanted, slower)


def _usual(outlook: Outlook, history: PollHistory, policy: PollPolicy, now: datetime) -> timedelta:
    match outlook.phase:
        case Phase.IN_PLAY | Phase.UNKNOWN:
            return policy.busy if policy.is_adaptive and history.is_busy else policy.in_play
        case Phase.BREAK:
            return policy.on_break
        case Phase.UPCOMING:
            return policy.imminent if is_imminent(outlook.starts_at, now) else policy.completed
        case Phase.COMPLETED:
            return policy.completed
