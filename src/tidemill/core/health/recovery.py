"""Recovering from failing freshness: what is tried, how often at most, and how it is judged."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.health.grades import RECOVERY_LIMIT, HealthGrade

LEAST_BETWEEN = timedelta(minutes=2)
MOST_AN_HOUR = 5
HOUR = timedelta(hours=1)


class RecoveryAction(StrEnum):
    """What is done; the value stands in the audit log."""

    BROWSER_RECYCLE = "browser_recycle"
    CONTEXT_POOL_RESET = "context_pool_reset"
    SOFT_RESTART = "soft_restart"
    MANUAL_TRIGGER = "manual_trigger"


STEPS = (RecoveryAction.BROWSER_RECYCLE, RecoveryAction.CONTEXT_POOL_RESET, RecoveryAction.SOFT_RESTART)
"""What the watchdog tries, one after the other while the system goes on failing."""


class RecoveryOutcome(StrEnum):
    """How a recovery ended; pending until it is judged."""

    PENDING = "pending"
    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"


class RecoveryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One recovery, for the audit: `duration_seconds` is until the system was healthy or was judged."""

    entry_id: str
    timestamp: datetime
    action_type: RecoveryAction
    trigger_condition: str
    outcome: RecoveryOutcome = RecoveryOutcome.PENDING
    duration_seconds: float = 0.0
    metadata: Mapping[str, Any] = msgspec.field(default_factory=dict)


class RecoveryRequest(msgspec.Struct, frozen=True):
    """What every process is asked to do: reset its contexts, or restart its live lane."""

    action: RecoveryAction
    at: datetime
    by: str


class WatchdogVerdict(msgspec.Struct, frozen=True):
    """What the watchdog does now: an action, or none; `calls_person` when it has acted as often as it may."""

    action: RecoveryAction | None
    calls_person: bool = False


def watchdog(grade: HealthGrade, since: datetime, past: Sequence[RecoveryEntry], now: datetime) -> WatchdogVerdict:
    """Return what to do about a failing system; `past` are recoveries, in any order, by whomever begun.

    Each failure begins with the mildest step and goes one further each time that it helped nothing.
    """
    if grade is not HealthGrade.FAILING:
        return WatchdogVerdict(None)
    begun = sorted((each for each in past if now - each.timestamp < HOUR), key=lambda each: each.timestamp)
    if len(begun) >= MOST_AN_HOUR:
        return WatchdogVerdict(None, calls_person=True)
    if begun and now - begun[-1].timestamp < LEAST_BETWEEN:
        return WatchdogVerdict(None)
    tried = _steps_in_vain(begun, since)
    return WatchdogVerdict(STEPS[min(tried, len(STEPS) - 1)])


def _steps_in_vain(begun: Sequence[RecoveryEntry], since: datetime) -> int:
    """Return how many recoveries in a row, up to the last, led back to where they began."""
    count = 0
    for each in reversed(begun):
        if each.outcome is RecoveryOutcome.SUCCESS or each.action_type not in STEPS:
            break
        if since - each.timestamp > RECOVERY_LIMIT + LEAST_BETWEEN:
            break  # it failed for another time: what helped before may help again
        count += 1
        since = each.timestamp
    return count


def judged(entry: RecoveryEntry, grade: HealthGrade, now: datetime) -> RecoveryEntry:
    """Return the entry judged by the grade: a success as soon as all is well, the rest when the time is up."""
    took = now - entry.timestamp
    if entry.outcome is not RecoveryOutcome.PENDING:
        return entry
    if grade is HealthGrade.HEALTHY and took <= RECOVERY_LIMIT:
        outcome = RecoveryOutcome.SUCCESS
    elif took < RECOVERY_LIMIT:
        return entry
    else:
        improved = grade in {HealthGrade.HEALTHY, HealthGrade.DEGRADED}
        outcome = RecoveryOutcome.PARTIAL if improved else RecoveryOutcome.FAILED
    return msgspec.structs.replace(entry, outcome=outcome, duration_seconds=took.total_seconds())
