"""When a browser has served long enough."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from tidemill.core.services.recycling import GIGABYTE, Recycle, RecycleReason, RecycleRules, Vitals, recycle_decision

pytestmark = pytest.mark.shows("F9")

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
RULES = RecycleRules()
WELL = Vitals(started_at=NOON - timedelta(hours=1), last_used_at=NOON, tasks=10, memory_bytes=GIGABYTE, pids=12)


def test_a_browser_that_is_well_serves_on():
    assert recycle_decision(WELL, RULES, NOON) is None


@pytest.mark.inventory(45)
def test_a_browser_six_hours_old_finishes_its_pages_and_goes():
    old = replace(WELL, started_at=NOON - timedelta(hours=6))
    assert recycle_decision(old, RULES, NOON) == Recycle(RecycleReason.AGE, at_once=False)


def test_a_browser_a_moment_short_of_six_hours_stays():
    nearly = replace(WELL, started_at=NOON - timedelta(hours=6) + timedelta(microseconds=1))
    assert recycle_decision(nearly, RULES, NOON) is None


def test_a_browser_goes_after_its_last_task():
    assert recycle_decision(replace(WELL, tasks=RULES.max_tasks - 1), RULES, NOON) is None
    assert recycle_decision(replace(WELL, tasks=RULES.max_tasks), RULES, NOON) == Recycle(
        RecycleReason.TASKS, at_once=False
    )


def test_above_the_soft_limit_of_memory_it_finishes_first():
    assert recycle_decision(replace(WELL, memory_bytes=1_500_000_000), RULES, NOON) is None
    assert recycle_decision(replace(WELL, memory_bytes=1_500_000_001), RULES, NOON) == Recycle(
        RecycleReason.MEMORY_SOFT, at_once=False
    )


def test_above_the_hard_limit_of_memory_it_is_killed():
    assert recycle_decision(replace(WELL, memory_bytes=2_000_000_001), RULES, NOON) == Recycle(
        RecycleReason.MEMORY_HARD, at_once=True
    )


def test_too_many_processes_end_it():
    assert recycle_decision(replace(WELL, pids=RULES.max_pids + 1), RULES, NOON) == Recycle(
        RecycleReason.PIDS, at_once=False
    )


@pytest.mark.parametrize(("busy", "expected"), [(0, Recycle(RecycleReason.IDLE, at_once=False)), (1, None)])
def test_a_browser_that_nobody_uses_is_closed(busy: int, expected: Recycle | None):
    unused = replace(WELL, last_used_at=NOON - RULES.idle_after, busy=busy)
    assert recycle_decision(unused, RULES, NOON) == expected


def test_a_dead_browser_goes_at_once_whatever_else_is_wrong():
    dead = replace(WELL, browser_lives=False, driver_lives=False, memory_bytes=3 * GIGABYTE)
    assert recycle_decision(dead, RULES, NOON) == Recycle(RecycleReason.BROWSER_DIED, at_once=True)


def test_a_browser_whose_driver_died_goes_at_once():
    assert recycle_decision(replace(WELL, driver_lives=False), RULES, NOON) == Recycle(
        RecycleReason.DRIVER_DIED, at_once=True
    )


def test_rules_that_would_kill_before_they_close_are_refused():
    with pytest.raises(ValueError, match="soft memory limit"):
        RecycleRules(soft_bytes=2 * GIGABYTE, hard_bytes=GIGABYTE)
