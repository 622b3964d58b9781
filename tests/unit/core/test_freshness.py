"""Confidence fades from what was seen and what was verified, by whole points."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.freshness import (
    SEEN,
    VERIFIED,
    Badge,
    ConfidenceDecay,
    badge,
    confidence,
    decay_problem,
    decay_problems,
    decayed,
    time_until_below,
)

pytestmark = pytest.mark.shows("L3")

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
FADING = ConfidenceDecay()


@pytest.mark.shows("L5")
@pytest.mark.parametrize(("tier", "hours_to_floor"), [("hot", 20), ("standard", 30), ("cool", 60)])
def test_an_unseen_record_reaches_the_readers_floor_as_the_design_says(tier: str, hours_to_floor: int):
    seen = NOW - hours_to_floor * HOUR
    assert confidence(FADING.rate(tier), NOW, seen) == 40
    assert confidence(FADING.rate(tier), NOW + HOUR, seen) < 40


def test_a_sighting_is_worth_a_hundred_and_a_verification_eighty():
    assert confidence(3, NOW, NOW) == 100
    assert confidence(3, NOW, NOW - 40 * HOUR, NOW) == 80


def test_the_better_of_sight_and_check_counts():
    assert confidence(1, NOW, NOW - 10 * HOUR, NOW - 5 * HOUR) == 90
    assert confidence(1, NOW, NOW - 50 * HOUR, NOW - 5 * HOUR) == 75


def test_it_never_falls_below_zero_nor_rises_above_what_it_is_worth():
    assert confidence(3, NOW, NOW - 1000 * HOUR, NOW - 900 * HOUR) == 0
    assert confidence(3, NOW, NOW + HOUR) == 100


def test_an_unknown_tier_fades_as_fast_as_any():
    assert FADING.rate("tropical") == 3


@given(
    worth=st.sampled_from([SEEN, VERIFIED]),
    rate=st.integers(1, 100),
    level=st.integers(1, 100),
)
def test_lasts_is_exactly_the_moment_at_which_the_level_is_lost(worth: int, rate: int, level: int):
    span = time_until_below(worth, rate, level)
    assert decayed(worth, rate, span) < level
    if span:
        assert decayed(worth, rate, span - timedelta(microseconds=1)) >= level


@given(rate=st.integers(1, 10), ages=st.lists(st.integers(0, 10**12), min_size=2, max_size=2))
def test_confidence_only_ever_falls_with_age(rate: int, ages: list[int]):
    younger, older = sorted(ages)
    assert decayed(SEEN, rate, timedelta(microseconds=older)) <= decayed(SEEN, rate, timedelta(microseconds=younger))


@pytest.mark.shows("L5")
@pytest.mark.parametrize(
    ("sure", "expected"),
    [
        (100, Badge("green", "Recently verified")),
        (80, Badge("green", "Recently verified")),
        (79, Badge("yellow", "Listed 3 days ago")),
        (50, Badge("yellow", "Listed 3 days ago")),
        (49, Badge("orange", "May no longer be available")),
        (40, Badge("orange", "May no longer be available")),
        (39, None),
    ],
)
def test_badges_change_at_the_boundaries_of_the_table(sure: int, expected: Badge | None):
    assert badge(FADING, sure, NOW - timedelta(days=3, hours=2), NOW) == expected


@pytest.mark.shows("L5")
@pytest.mark.parametrize(("days", "words"), [(0, "Listed today"), (1, "Listed 1 day ago"), (12, "Listed 12 days ago")])
def test_a_badge_counts_days_as_a_person_does(days: int, words: str):
    assert badge(FADING, 60, NOW - timedelta(days=days), NOW) == Badge("yellow", words)


def test_the_usual_tiers_agree_with_their_fading():
    assert decay_problems(FADING, {"hot": 6 * HOUR, "standard": 12 * HOUR, "cool": 24 * HOUR}) == []


def test_a_floor_that_comes_before_two_scrapes_is_named_with_what_to_do():
    trouble = decay_problem(FADING, "hot", 12 * HOUR)
    assert trouble is not None
    assert "every 12 h" in trouble
    assert "at least every 10.2 h" in trouble


def test_verifying_only_after_readers_lost_it_is_a_contradiction():
    assert "above the readers' floor" in decay_problems(ConfidenceDecay(verify_under=40), {})[0]
