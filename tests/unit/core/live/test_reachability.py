"""When nothing at all answers, our own network is away, and neither sites nor things are blamed."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.core.live.reachability import COUNTS_FOR, Reachability, after_asking, is_our_network_away

pytestmark = pytest.mark.shows("M1", "H2")
SECOND = timedelta(seconds=1)


def after(*asked):
    known = Reachability()
    for seconds, host, failure in asked:
        known = after_asking(known, host, failure, NOON + seconds * SECOND)
    return known


def test_several_hosts_of_which_none_can_be_reached_mean_that_our_network_is_away():
    assert is_our_network_away(after((0, "a", Failure.CONNECTION_LOST), (1, "b", Failure.TIMED_OUT)))


def test_one_host_alone_may_be_dead_itself():
    assert not is_our_network_away(after((0, "a", Failure.TIMED_OUT), (2, "a", Failure.TIMED_OUT)))


@pytest.mark.parametrize("answer", [None, Failure.SERVER_ERROR, Failure.FORBIDDEN, Failure.LAYOUT_CHANGED])
def test_any_answer_of_any_host_means_that_the_network_is_there(answer):
    lost = (0, "a", Failure.CONNECTION_LOST), (1, "b", Failure.CONNECTION_LOST)
    assert not is_our_network_away(after(*lost, (2, "c", answer)))


def test_what_was_answered_long_ago_says_nothing():
    late = COUNTS_FOR / SECOND
    known = after((0, "c", None), (late, "a", Failure.TIMED_OUT), (late, "b", Failure.TIMED_OUT))
    assert is_our_network_away(known)


def test_a_cut_is_known_before_hosts_that_are_asked_seldom_are_asked_again():
    answered = (0, "seldom", None), (1, "a", None), (1, "b", None)
    assert not is_our_network_away(after(*answered, (3, "a", Failure.CONNECTION_LOST)))
    assert is_our_network_away(after(*answered, (3, "a", Failure.CONNECTION_LOST), (4, "b", Failure.CONNECTION_LOST)))


def test_sites_that_stay_silent_while_another_answers_are_dead_themselves():
    lost = (0, "a", Failure.CONNECTION_LOST), (1, "b", Failure.CONNECTION_LOST)
    again = (5, "a", Failure.CONNECTION_LOST), (6, "b", Failure.CONNECTION_LOST)
    assert not is_our_network_away(after(*lost, (2, "c", None), *again))
    assert is_our_network_away(after(*lost, (2, "a", None), (3, "b", None), *again))
