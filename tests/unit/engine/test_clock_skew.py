"""When two clocks differ too much, as far as the time of an answer lets us know."""

import pytest

from tidemill.engine.clock import ClockSkew


@pytest.mark.parametrize("skew", [ClockSkew(2.0), ClockSkew(-2.0), ClockSkew(5.0, 3.0)])
def test_up_to_two_seconds_are_no_fault_nor_is_what_the_answers_way_explains(skew):
    assert skew.fault == ""


@pytest.mark.parametrize(
    ("skew", "certain"), [(ClockSkew(0.7, 0.2), 0.5), (ClockSkew(-0.7, 0.2), -0.5), (ClockSkew(-0.7, 0.9), 0.0)]
)
def test_what_an_answers_way_explains_is_no_certain_skew(skew, certain):
    assert skew.certain.total_seconds() == pytest.approx(certain)


@pytest.mark.parametrize(("skew", "words"), [(ClockSkew(2.1), "2.1 s ahead"), (ClockSkew(-9.0, 0.5), "9.0 s behind")])
def test_more_is_a_fault_that_says_by_how_much(skew, words):
    assert words in skew.fault
