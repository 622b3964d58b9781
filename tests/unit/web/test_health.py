from datetime import timedelta

import pytest
from msgspec.structs import replace

from rig.clock import NOON
from tidemill.core.health.system import Grade
from tidemill.core.views import BreakerView, WorkerView
from tidemill.telemetry.rates import Rates
from tidemill.web.health import DatabaseState, Facts, Late, grade_and_reasons

pytestmark = pytest.mark.shows("H4")

LEASE = timedelta(seconds=60)
WORKER = WorkerView(id=1, name="mill:7", pid=7, started_at=NOON, seen_at=NOON, ended_at=None, jobs=3)
BREAKER = BreakerView(
    source_id=1, source_name="Town", state="OPEN", failure_count=5, success_count=0, last_failure_at=NOON,
    cooldown_until=NOON, consecutive_opens=1, total_calls=5, total_successes=0, total_failures=5, total_rejections=0,
    changed_at=NOON,
)  # fmt: skip
WELL = Facts(database=DatabaseState(reachable=True), workers=[WORKER])


def test_nothing_to_worry_about_is_healthy() -> None:
    assert grade_and_reasons(WELL, NOON, LEASE) == (Grade.HEALTHY, [])


def test_without_its_database_it_is_down_whatever_else() -> None:
    away = DatabaseState(reachable=False, error="the database does not answer")
    assert grade_and_reasons(replace(WELL, database=away), NOON, LEASE) == (
        Grade.DOWN,
        ["the database does not answer"],
    )


@pytest.mark.parametrize(("unseen", "grade"), [(60, Grade.HEALTHY), (61, Grade.DOWN)])
def test_a_worker_lives_as_long_as_its_lease(unseen: int, grade: Grade) -> None:
    assert grade_and_reasons(WELL, NOON + timedelta(seconds=unseen), LEASE)[0] is grade


def test_a_worker_that_signed_off_is_not_alive() -> None:
    assert grade_and_reasons(replace(WELL, workers=[replace(WORKER, ended_at=NOON)]), NOON, LEASE)[0] is Grade.DOWN


def test_a_few_sources_are_named_and_the_rest_is_counted() -> None:
    many = [replace(BREAKER, source_name=f"S{number}") for number in range(7)]
    _, reasons = grade_and_reasons(replace(WELL, breakers=many), NOON, LEASE)
    assert reasons == ["7 breakers are open: S0, S1, S2, S3, S4 and 2 more"]


def test_a_probing_breaker_is_no_worry() -> None:
    assert (
        grade_and_reasons(replace(WELL, breakers=[replace(BREAKER, state="HALF_OPEN")]), NOON, LEASE)[0]
        is Grade.HEALTHY
    )


@pytest.mark.parametrize(
    ("errors", "pages", "grade"),
    [(4, 0, Grade.HEALTHY), (5, 0, Grade.DEGRADED), (5, 45, Grade.HEALTHY), (6, 45, Grade.DEGRADED)],
)
def test_errors_count_when_they_are_many_and_a_large_share(errors: int, pages: int, grade: Grade) -> None:
    rates = Rates(errors_last_minute=errors, pages_last_minute=pages)
    assert grade_and_reasons(replace(WELL, rates=rates), NOON, LEASE)[0] is grade


def test_every_reason_is_given() -> None:
    facts = replace(WELL, breakers=[BREAKER], overdue=[Late("tick dispatch", "never")], workers=[])
    grade, reasons = grade_and_reasons(facts, NOON, LEASE)
    assert grade is Grade.DOWN
    assert len(reasons) == 3
