from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.breaker import (
    Breaker,
    BreakerPolicy,
    Closed,
    Open,
    Probing,
    ask,
    failed,
    forced_open,
    reopens_at,
    succeeded,
)

pytestmark = pytest.mark.shows("R1")

POLICY = BreakerPolicy()
HALF_HOUR = timedelta(minutes=30)


def test_a_closed_breaker_lets_calls_through():
    assert ask(Closed(4), POLICY, NOON) == (Closed(4), True)


def test_the_fifth_failure_in_a_row_opens_it_for_half_an_hour():
    breaker: Breaker = Closed()
    for _ in range(4):
        breaker = failed(breaker, POLICY, NOON)
    assert breaker == Closed(4)
    assert failed(breaker, POLICY, NOON) == Open(NOON + HALF_HOUR, 1)


def test_a_success_forgives_earlier_failures():
    assert succeeded(Closed(4), POLICY) == Closed(0)


def test_an_open_breaker_refuses_until_its_cooldown_has_passed():
    breaker = Open(NOON + HALF_HOUR, 1)
    assert ask(breaker, POLICY, NOON + HALF_HOUR - timedelta(seconds=1)) == (breaker, False)
    assert ask(breaker, POLICY, NOON + HALF_HOUR)[1]


def test_exactly_one_probe_is_out_at_a_time():
    probing, admitted = ask(Open(NOON, 1), POLICY, NOON)
    assert admitted
    assert ask(probing, POLICY, NOON + timedelta(seconds=1)) == (probing, False)


def test_a_probe_that_never_answers_makes_room_for_another():
    probing, _ = ask(Open(NOON, 1), POLICY, NOON)
    again, admitted = ask(probing, POLICY, NOON + POLICY.probe_timeout)
    assert admitted
    assert again == Probing(1, 0, NOON + 2 * POLICY.probe_timeout)


def test_a_failed_probe_doubles_the_cooldown():
    assert failed(Probing(trips=1), POLICY, NOON) == Open(NOON + timedelta(hours=1), trips=2)


def test_a_good_probe_closes_it():
    assert succeeded(Probing(3), POLICY) == Closed()


def test_live_scrapers_need_five_good_probes():
    live = BreakerPolicy(successes_to_close=5)
    breaker: Breaker = Probing(1)
    for count in range(1, 5):
        breaker = succeeded(breaker, live)
        assert breaker == Probing(1, count)
    assert succeeded(breaker, live) == Closed()


def test_late_answers_from_before_the_opening_change_nothing():
    breaker = Open(NOON + HALF_HOUR, 1)
    assert failed(breaker, POLICY, NOON) == breaker
    assert succeeded(breaker, POLICY) == breaker


def test_it_says_when_asking_again_makes_sense():
    assert reopens_at(Open(NOON + HALF_HOUR, 1), NOON) == NOON + HALF_HOUR
    assert reopens_at(Probing(1, 0, NOON + HALF_HOUR), NOON) == NOON + HALF_HOUR
    assert reopens_at(Closed(), NOON) == NOON


def test_what_trying_again_does_not_mend_opens_the_breaker_at_once():
    assert forced_open(Closed(1), BreakerPolicy(), NOON) == failed(Closed(4), BreakerPolicy(), NOON)
    assert forced_open(Probing(2), BreakerPolicy(), NOON) == failed(Probing(2), BreakerPolicy(), NOON)
