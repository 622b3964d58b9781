from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from rig.clock import NOON
from tidemill.core.services.budget import Budget, BudgetRefusal, Spent, budget_refusal, end_of, start_of


def test_a_budget_without_limits_refuses_nothing():
    assert budget_refusal(Budget(), Spent(10**9, 10**9, 10**9), 10**9, NOON) is None


def test_the_last_unit_may_be_spent_and_not_one_more():
    assert budget_refusal(Budget(hour=10), Spent(9, 9, 9), 1, NOON) is None
    assert budget_refusal(Budget(hour=10), Spent(9, 9, 9), 2, NOON) == BudgetRefusal(
        "hour", 10, NOON + timedelta(hours=1)
    )


def test_of_several_limits_the_one_that_lasts_longest_is_named():
    refused = budget_refusal(Budget(hour=1, day=1, month=1), Spent(1, 1, 1), 1, NOON)
    assert refused == BudgetRefusal("month", 1, NOON.replace(month=4, day=1, hour=0))


@given(
    moment=st.datetimes(min_value=NOON.replace(tzinfo=None)).map(lambda each: each.replace(tzinfo=NOON.tzinfo)),
    period=st.sampled_from(["hour", "day", "month"]),
)
def test_every_moment_lies_in_its_own_period_and_the_next_begins_where_it_ends(moment, period):
    if moment.year >= 9_999:
        return
    assert start_of(period, moment) <= moment < end_of(period, moment)
    assert start_of(period, end_of(period, moment)) == end_of(period, moment)
