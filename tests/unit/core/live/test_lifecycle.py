"""A watched thing's life."""

from datetime import UTC, datetime, timedelta

import pytest

from tidemill.core.live.lifecycle import (
    Life,
    Lifecycle,
    LifecyclePolicy,
    Move,
    after_failure,
    after_list,
    after_reading,
    after_time,
    may_try,
)
from tidemill.core.live.rules import Phase

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
POLICY = LifecyclePolicy()


def life(state: Lifecycle, **more: object) -> Life:
    return Life(state=state, since=NOON, **more)  # type: ignore[arg-type]


def moved(answer: tuple[Life, Move | None]) -> tuple[str, str] | None:
    move = answer[1]
    return None if move is None else (move.before.value, move.after.value)


@pytest.mark.shows("M1")
@pytest.mark.inventory(100)
def test_the_first_good_reading_makes_a_thing_active() -> None:
    assert moved(after_reading(life(Lifecycle.DISCOVERED), Phase.IN_PLAY, NOON)) == ("DISCOVERED", "ACTIVE")
    assert moved(after_reading(life(Lifecycle.ACTIVE), Phase.BREAK, NOON)) is None


@pytest.mark.shows("M1")
@pytest.mark.inventory(70, 71, 72, 100)
def test_the_fifth_failure_in_a_row_pauses_for_300_seconds_and_then_one_try_goes() -> None:
    now = life(Lifecycle.ACTIVE)
    for turn in range(4):
        now, move = after_failure(now, POLICY, NOON + timedelta(seconds=turn))
        assert move is None
    now, move = after_failure(now, POLICY, NOON)
    assert (move.before, move.after) == (Lifecycle.ACTIVE, Lifecycle.PAUSED) if move else False
    assert not may_try(now, NOON + timedelta(seconds=299))
    assert may_try(now, NOON + timedelta(seconds=300))
    again, move = after_failure(now, POLICY, NOON + timedelta(seconds=300))
    assert move is None
    assert again.paused_until == NOON + timedelta(seconds=600)
    healed, move = after_reading(now, Phase.IN_PLAY, NOON + timedelta(seconds=300))
    assert moved((healed, move)) == ("PAUSED", "ACTIVE")
    assert (healed.failures, healed.paused_until) == (0, None)


@pytest.mark.shows("M1")
@pytest.mark.parametrize("state", [Lifecycle.ACTIVE, Lifecycle.PAUSED, Lifecycle.DISCOVERED])
@pytest.mark.inventory(100)
def test_the_source_says_that_a_thing_has_ended(state: Lifecycle) -> None:
    assert moved(after_reading(life(state), Phase.COMPLETED, NOON)) == (state.value, "COMPLETED")


@pytest.mark.shows("M1")
@pytest.mark.parametrize("state", [Lifecycle.ACTIVE, Lifecycle.PAUSED])
def test_absence_from_two_complete_lists_in_a_row_completes_a_thing(state: Lifecycle) -> None:
    once, move = after_list(life(state), POLICY, is_named=False, now=NOON)
    assert move is None
    named, _ = after_list(once, POLICY, is_named=True, now=NOON)
    assert moved(after_list(named, POLICY, is_named=False, now=NOON)) is None
    assert moved(after_list(once, POLICY, is_named=False, now=NOON)) == (state.value, "COMPLETED")


@pytest.mark.shows("M1")
def test_a_thing_that_comes_back_is_taken_up_again() -> None:
    absent = life(Lifecycle.COMPLETED, missed_lists=2)
    assert moved(after_list(absent, POLICY, is_named=True, now=NOON)) == ("COMPLETED", "ACTIVE")
    assert moved(after_list(life(Lifecycle.ARCHIVED), POLICY, is_named=True, now=NOON)) == ("ARCHIVED", "DISCOVERED")
    ended = life(Lifecycle.COMPLETED)
    assert moved(after_list(ended, POLICY, is_named=True, now=NOON)) is None
    assert moved(after_reading(ended, Phase.IN_PLAY, NOON)) == ("COMPLETED", "ACTIVE")


@pytest.mark.shows("M1")
@pytest.mark.inventory(74, 100)
def test_a_completed_thing_is_archived_a_day_later() -> None:
    ended = life(Lifecycle.COMPLETED)
    assert moved(after_time(ended, POLICY, NOON + timedelta(hours=23, minutes=59))) is None
    assert moved(after_time(ended, POLICY, NOON + timedelta(hours=24))) == ("COMPLETED", "ARCHIVED")
    assert moved(after_time(life(Lifecycle.ACTIVE), POLICY, NOON + timedelta(days=9))) is None


def test_a_completed_thing_is_not_paused_by_failures() -> None:
    now = life(Lifecycle.COMPLETED)
    for _ in range(9):
        now, move = after_failure(now, POLICY, NOON)
        assert move is None
