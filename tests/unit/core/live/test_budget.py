"""A host's pace as a budget."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.live.budget import Demand, DuePage, best_first, debt_of, is_short, list_interval, slots_wanted
from tidemill.core.live.polling import LiveUrgency
from tidemill.core.pacing import Pace

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TWO_A_SECOND = Pace(timedelta(seconds=0.5))
FAST = Demand(timedelta(seconds=2.5))


def candidate(page: int, ago: float, urgency: LiveUrgency = LiveUrgency.LIVE, **more: bool) -> DuePage:
    return DuePage(page, urgency, NOON - timedelta(seconds=ago), **more)


@pytest.mark.shows("M2")
def test_a_host_is_short_when_its_pages_need_more_than_its_pace_allows() -> None:
    assert not is_short([FAST] * 5, TWO_A_SECOND)
    assert is_short([FAST] * 6, TWO_A_SECOND)
    assert not is_short([FAST] * 1_000, Pace(timedelta(0)))


@pytest.mark.shows("M2")
@pytest.mark.inventory(77)
def test_the_list_goes_first_then_what_moved_then_the_longest_unchecked() -> None:
    due = [
        candidate(1, 9),
        candidate(2, 3, has_moved=True),
        candidate(3, 60, LiveUrgency.COMPLETED),
        candidate(4, 1, is_list=True),
        candidate(5, 20),
        candidate(6, 40, LiveUrgency.IMMINENT),
    ]
    assert [each.page for each in best_first(due, served=0, slots=6)] == [4, 2, 5, 1, 6, 3]


@pytest.mark.shows("O3")
def test_every_tenth_request_goes_to_the_longest_waiting_of_the_lower_classes() -> None:
    due = [candidate(page, 100 - page) for page in range(50)]
    due += [candidate(90, 5, LiveUrgency.IMMINENT), candidate(91, 600, LiveUrgency.COMPLETED)]
    taken = [each.page for each in best_first(due, served=0, slots=20)]
    assert taken.index(91) == 9
    assert taken.index(90) == 19


@given(st.lists(st.integers(0, 2), max_size=40), st.integers(0, 100), st.integers(0, 50))
def test_nobody_is_taken_twice_and_no_slot_is_wasted(classes: list[int], served: int, slots: int) -> None:
    due = [candidate(page, page, LiveUrgency(each)) for page, each in enumerate(classes)]
    taken = best_first(due, served, slots)
    assert len({each.page for each in taken}) == len(taken) == min(slots, len(due))


@pytest.mark.shows("M2")
def test_requests_are_booked_for_a_second_and_a_tenth_is_left_to_others() -> None:
    quick = Pace(timedelta(milliseconds=50))
    assert slots_wanted(100, quick, others_wait=False) == 20
    assert slots_wanted(100, quick, others_wait=True) == 18
    assert slots_wanted(3, quick, others_wait=True) == 3
    assert slots_wanted(100, Pace(timedelta(seconds=2)), others_wait=True) == 1
    assert slots_wanted(100, Pace(timedelta(0)), others_wait=True) == 100


def test_the_list_of_a_host_that_is_short_is_polled_as_often_as_half_its_pace() -> None:
    usual = timedelta(seconds=60)
    assert list_interval(40, TWO_A_SECOND, usual) == timedelta(seconds=2.5)
    assert list_interval(40, Pace(timedelta(seconds=5)), usual) == timedelta(seconds=10)
    assert list_interval(1, TWO_A_SECOND, usual) == usual


@pytest.mark.shows("M2")
def test_debt_is_the_time_beyond_the_interval() -> None:
    interval = timedelta(seconds=2.5)
    assert debt_of(NOON, NOON, interval, NOON + timedelta(seconds=10)) == timedelta(seconds=7.5)
    assert debt_of(None, NOON, interval, NOON + timedelta(seconds=2)) == timedelta(0)
