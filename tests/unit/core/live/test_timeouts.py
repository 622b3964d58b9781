"""How long an answer is waited for."""

from datetime import timedelta

import pytest

from tidemill.core.live.timeouts import AdaptiveTimeout, TimeoutPolicy, after_answer

POLICY = TimeoutPolicy()


def after_ten(timeout: AdaptiveTimeout, took: float, policy: TimeoutPolicy = POLICY) -> AdaptiveTimeout:
    for _ in range(10):
        timeout = after_answer(timeout, timedelta(seconds=took), policy)
    return timeout


@pytest.mark.shows("M2")
@pytest.mark.inventory(52)
def test_a_slow_site_is_given_half_more_time_up_to_the_longest() -> None:
    timeout = AdaptiveTimeout(POLICY.usual)
    grown = []
    for _ in range(4):
        timeout = after_ten(timeout, 2.1)
        grown.append(timeout.limit.total_seconds())
    assert grown == [22.5, 33.75, 45, 45]


@pytest.mark.shows("M2")
def test_a_quick_site_gets_the_usual_time_back() -> None:
    slow = AdaptiveTimeout(timedelta(seconds=45))
    assert after_ten(slow, 1).limit == timedelta(seconds=45)
    assert after_ten(slow, 0.4).limit == POLICY.usual


def test_nine_answers_are_not_judged() -> None:
    timeout = AdaptiveTimeout(POLICY.usual)
    for _ in range(9):
        timeout = after_answer(timeout, timedelta(seconds=10), POLICY)
    assert timeout.limit == POLICY.usual


@pytest.mark.inventory(58)
def test_time_outs_stay_where_adapting_is_switched_off() -> None:
    fixed = TimeoutPolicy(is_adaptive=False)
    assert after_ten(AdaptiveTimeout(fixed.usual), 10, fixed).limit == fixed.usual
