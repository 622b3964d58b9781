"""The grade: its bounds, its moves, and what it is made from."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tidemill.core.health.contexts import ScraperContext
from tidemill.core.health.grades import (
    Freshness,
    FreshnessStats,
    Grading,
    HealthGrade,
    evaluate,
    freshness_of,
    freshness_stats,
    recovering,
)
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.live.rules import Phase

pytestmark = [pytest.mark.shows("H2", "B4"), pytest.mark.inventory(85, 86)]

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HEALTHY, DEGRADED, FAILING, RECOVERING = HealthGrade


def checked(key: str, seconds: float | None, **other: object) -> ScraperContext:
    plain = ScraperContext(
        scraper_id=key, vertical="tallies", thing_key=key, url=f"https://site/{key}",
        start_time=NOON - timedelta(hours=1), phase=Phase.IN_PLAY,
    )  # fmt: skip
    when = None if seconds is None else NOON - timedelta(seconds=seconds)
    return msgspec.structs.replace(plain, **{"last_update_time": when, **other})


def fresh(*ages: float) -> Freshness:
    return freshness_of([checked(str(number), age) for number, age in enumerate(ages)], NOON)


def after(grade: HealthGrade, freshness: Freshness, **other: object) -> HealthGrade:
    moved, move = evaluate(Grading(grade=grade, since=NOON - timedelta(minutes=1), **other), freshness, NOON)  # type: ignore[arg-type]
    assert (move is None) == (moved.grade is grade)
    return moved.grade


@pytest.mark.parametrize(
    ("ages", "wanted"),
    [
        ((59.9, 59.9, 59.9), HEALTHY),
        ((60.0, 60.0, 0.0), DEGRADED),  # the median
        ((*[1.0] * 18, 60.0, 60.0), DEGRADED),  # the 95th percentile of twenty
        ((*[1.0] * 19, 119.9), HEALTHY),  # one of twenty, under the limit for any
        ((*[1.0] * 19, 120.0), FAILING),
        ((89.9, 89.9), DEGRADED),
        ((90.0, 90.0), FAILING),  # a stall: nothing at all was checked
        ((119.9, 1.0), DEGRADED),
        ((120.0, 1.0), FAILING),
    ],
)
def test_the_bounds_are_60_90_and_120_seconds(ages: tuple[float, ...], wanted: HealthGrade) -> None:
    assert after(HEALTHY, fresh(*ages)) is wanted


def test_every_move_between_grades() -> None:
    good, slow, bad = fresh(1.0, 2.0), fresh(70.0, 70.0), fresh(130.0, 1.0)
    assert after(HEALTHY, slow) is DEGRADED
    assert after(HEALTHY, bad) is FAILING
    assert after(DEGRADED, bad) is FAILING
    assert after(FAILING, slow) is DEGRADED
    assert after(FAILING, good) is DEGRADED  # partial improvement: healthy takes two good evaluations
    assert after(DEGRADED, good, good_intervals=1) is HEALTHY
    begun, move = recovering(Grading(grade=FAILING, since=NOON), NOON, "the watchdog")
    assert (begun.grade, move.after if move else None) == (RECOVERING, RECOVERING)
    assert after(RECOVERING, good, recycled_at=NOON - timedelta(seconds=30)) is HEALTHY


def test_degraded_becomes_healthy_after_two_good_evaluations_in_a_row() -> None:
    grading = Grading(grade=DEGRADED, since=NOON)
    seen = []
    for ages in ((1.0,), (61.0,), (1.0,), (1.0,)):
        grading, _ = evaluate(grading, fresh(*ages), NOON)
        seen.append(grading.grade)
    assert seen == [DEGRADED, DEGRADED, DEGRADED, HEALTHY]


def test_recovering_lasts_until_the_first_check_after_the_recycle() -> None:
    begun = NOON - timedelta(seconds=40)
    assert after(RECOVERING, fresh(95.0), recycled_at=begun) is RECOVERING
    assert after(RECOVERING, fresh(41.0), recycled_at=begun) is RECOVERING  # checked before it
    assert after(RECOVERING, fresh(39.0), recycled_at=begun) is HEALTHY
    assert after(RECOVERING, fresh(39.0, 130.0), recycled_at=begun) is RECOVERING  # not all are back yet
    assert after(RECOVERING, fresh(200.0), recycled_at=NOON - timedelta(seconds=119.9)) is RECOVERING
    assert after(RECOVERING, fresh(200.0), recycled_at=NOON - timedelta(seconds=120)) is FAILING
    assert after(RECOVERING, fresh(*[70.0] * 3, 3.0), recycled_at=NOON - timedelta(seconds=75)) is DEGRADED


@pytest.mark.shows("B3")
def test_an_idle_system_is_healthy_and_cannot_stall() -> None:
    assert fresh() == Freshness()
    ended = checked("over", 4_000, phase=Phase.COMPLETED, lifecycle=Lifecycle.COMPLETED)
    later = checked("later", 4_000, phase=Phase.UPCOMING)
    listed = checked("", 4_000)
    idle = freshness_of([ended, later, listed], NOON)
    assert (idle.stats.count, idle.stall) == (0, timedelta(0))
    assert after(HEALTHY, idle) is HEALTHY
    assert after(RECOVERING, idle, recycled_at=NOON) is HEALTHY


def test_a_thing_is_as_fresh_as_its_freshest_page() -> None:
    pages = [checked("one", 500), msgspec.structs.replace(checked("one", 2), scraper_id="other site")]
    assert freshness_of(pages, NOON).stats.samples == (2.0,)


def test_a_paused_thing_is_left_out_unless_nothing_else_is_checked() -> None:
    paused = checked("one", 280, lifecycle=Lifecycle.PAUSED)
    assert after(HEALTHY, freshness_of([paused, checked("two", 1)], NOON)) is HEALTHY
    assert after(HEALTHY, freshness_of([paused], NOON)) is FAILING


def test_a_thing_that_was_never_checked_ages_from_the_start_of_its_watch() -> None:
    new = checked("one", None, start_time=NOON - timedelta(seconds=130))
    assert freshness_of([new], NOON).stats.max == 130
    assert after(HEALTHY, freshness_of([new], NOON)) is FAILING


def test_lateness_by_the_pace_of_a_host_alone_is_told_apart() -> None:
    owing = checked("one", 130, debt=timedelta(seconds=100))
    assert freshness_of([owing], NOON).is_pace
    assert not freshness_of([owing, checked("two", 130)], NOON).is_pace
    assert not freshness_of([checked("one", 1, debt=timedelta(seconds=1))], NOON).is_pace


def test_the_figures_are_ages_that_exist() -> None:
    assert freshness_stats([3, 1, 2, 10]) == FreshnessStats(
        median=2, p50=2, p95=10, max=10, count=4, samples=(1, 2, 3, 10)
    )
    assert freshness_stats([]) == FreshnessStats()
