from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.pacing import Pace, charged, opens_at, pace_key, requests_allowed, with_crawl_delay

pytestmark = pytest.mark.shows("F6")

SECOND = timedelta(seconds=1)
POLITE = Pace()


def test_the_default_is_one_request_in_two_seconds_one_at_a_time():
    assert (POLITE.interval, POLITE.burst, POLITE.parallel) == (2 * SECOND, 1, 1)


def test_a_fresh_host_may_be_asked_once():
    assert requests_allowed(POLITE, None, 0, NOON) == 1


def test_a_host_that_was_just_asked_must_wait():
    booked_until = charged(POLITE, None, 1, NOON)
    assert requests_allowed(POLITE, booked_until, 0, NOON + SECOND) == 0
    assert opens_at(POLITE, booked_until, NOON) == NOON + 2 * SECOND
    assert requests_allowed(POLITE, booked_until, 0, NOON + 2 * SECOND) == 1


def test_a_request_under_way_takes_its_place():
    assert requests_allowed(POLITE, None, 1, NOON) == 0


@pytest.mark.inventory(96)
def test_a_burst_may_be_spent_at_once_and_then_is_paid_back():
    pace = Pace(SECOND, 3, 5)
    booked_until = charged(pace, None, 3, NOON)
    assert requests_allowed(pace, None, 0, NOON) == 3
    assert requests_allowed(pace, booked_until, 0, NOON) == 0
    assert requests_allowed(pace, booked_until, 0, NOON + SECOND) == 1


def test_no_spacing_leaves_only_parallelism():
    assert requests_allowed(Pace(timedelta(0), 1, 64), NOON, 60, NOON) == 4


def test_a_crawl_delay_slows_us_down_but_never_up():
    assert with_crawl_delay(POLITE, 10 * SECOND).interval == 10 * SECOND
    assert with_crawl_delay(POLITE, SECOND) == POLITE
    assert with_crawl_delay(POLITE, None) == POLITE


@pytest.mark.shows("F5")
@pytest.mark.parametrize(("asked", "kept"), [(0.1, 1), (3_600, 60)])
def test_a_crawl_delay_is_held_within_a_second_and_a_minute(asked, kept):
    assert with_crawl_delay(Pace(timedelta(0)), asked * SECOND).interval == kept * SECOND


@pytest.mark.parametrize("broken", [(-SECOND, 1, 1), (SECOND, 0, 1), (SECOND, 1, 0)])
def test_a_pace_under_which_nothing_could_be_asked_is_refused(broken):
    with pytest.raises(ValueError, match="a pace needs"):
        Pace(*broken)


def test_hosts_of_one_domain_share_its_pace_unless_one_has_its_own() -> None:
    assert pace_key("www.arnhem.nl", {}) == pace_key("agenda.arnhem.nl", {}) == "arnhem.nl"
    assert pace_key("api.arnhem.nl", {"api.arnhem.nl": Pace()}) == "api.arnhem.nl"
