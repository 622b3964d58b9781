"""The watchdog's steps and limits, how a recovery is judged, and failed tries."""

from datetime import UTC, datetime, timedelta

import pytest

from tidemill.core.failure import Failure
from tidemill.core.health.failed_tries import FailedTry
from tidemill.core.health.grades import HealthGrade
from tidemill.core.health.recovery import (
    RecoveryAction,
    RecoveryEntry,
    RecoveryOutcome,
    WatchdogVerdict,
    judged,
    watchdog,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
BROWSER, POOL, RESTART, MANUAL = (
    RecoveryAction.BROWSER_RECYCLE, RecoveryAction.CONTEXT_POOL_RESET, RecoveryAction.SOFT_RESTART,
    RecoveryAction.MANUAL_TRIGGER,
)  # fmt: skip


def begun(minutes_ago: float, action: RecoveryAction = BROWSER, outcome: str = "failed") -> RecoveryEntry:
    return RecoveryEntry(
        entry_id="x", timestamp=NOON - timedelta(minutes=minutes_ago), action_type=action, trigger_condition="late",
        outcome=RecoveryOutcome(outcome),
    )  # fmt: skip


def verdict(*past: RecoveryEntry) -> WatchdogVerdict:
    return watchdog(HealthGrade.FAILING, NOON, past, NOON)


@pytest.mark.shows("H2", "B3")
@pytest.mark.inventory(88)
def test_the_watchdog_acts_on_failing_only_and_takes_one_step_after_the_other() -> None:
    for grade in (HealthGrade.HEALTHY, HealthGrade.DEGRADED, HealthGrade.RECOVERING):
        assert watchdog(grade, NOON, [], NOON).action is None
    assert verdict().action is BROWSER
    assert verdict(begun(2)).action is POOL
    assert verdict(begun(4), begun(2, POOL)).action is RESTART
    assert verdict(begun(6), begun(4, POOL), begun(2, RESTART)).action is RESTART
    assert verdict(begun(4, BROWSER, "success")).action is BROWSER
    assert verdict(begun(30)).action is BROWSER  # another failure, another day's first step
    assert verdict(begun(3, MANUAL)).action is BROWSER


@pytest.mark.shows("B3")
def test_it_acts_once_in_two_minutes_and_five_times_an_hour_and_then_calls_a_person() -> None:
    assert verdict(begun(1.99)) == WatchdogVerdict(None)
    five = [begun(minutes) for minutes in (59, 40, 30, 20, 10)]
    assert verdict(*five) == WatchdogVerdict(None, calls_person=True)
    assert verdict(begun(60), *five[1:]).action is BROWSER


@pytest.mark.shows("H3")
@pytest.mark.inventory(90)
@pytest.mark.parametrize(
    ("grade", "seconds", "wanted"),
    [
        (HealthGrade.RECOVERING, 119, "pending"),
        (HealthGrade.HEALTHY, 30, "success"),
        (HealthGrade.HEALTHY, 120, "success"),
        (HealthGrade.HEALTHY, 121, "partial"),
        (HealthGrade.DEGRADED, 119, "pending"),
        (HealthGrade.DEGRADED, 120, "partial"),
        (HealthGrade.FAILING, 120, "failed"),
    ],
)
def test_a_recovery_is_judged_by_the_grade_within_120_seconds(grade: HealthGrade, seconds: int, wanted: str) -> None:
    entry = judged(begun(0, outcome="pending"), grade, NOON + timedelta(seconds=seconds))
    assert entry.outcome == wanted
    assert entry.duration_seconds == (0 if wanted == "pending" else seconds)


def test_what_was_judged_stays() -> None:
    assert judged(begun(0, outcome="failed"), HealthGrade.HEALTHY, NOON).outcome is RecoveryOutcome.FAILED


@pytest.mark.shows("H5")
@pytest.mark.inventory(41)
@pytest.mark.parametrize(
    ("failure", "wanted"),
    [
        (Failure.TIMED_OUT, "network"),
        (Failure.LAYOUT_CHANGED, "parsing"),
        (Failure.BROWSER_LOST, "browser"),
        (Failure.WRITE_FAILED, "database"),
        (Failure.FORBIDDEN, "auth"),
    ],
)
def test_the_type_of_an_error_comes_from_what_failures_mean(failure: Failure, wanted: str) -> None:
    assert FailedTry(scraper_id="s", at=NOON, failure=failure, operation="fetch").error_type == wanted
