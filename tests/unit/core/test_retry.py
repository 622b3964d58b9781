from datetime import timedelta

import pytest

from tidemill.core.retry import (
    DATABASE_RETRY,
    DEFAULT_RETRY,
    LONGEST_RETRY_AFTER,
    Jitter,
    RetryPolicy,
    next_wait,
    timeout_after,
)

pytestmark = pytest.mark.shows("F3")

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(("tries", "expected"), [(1, 1), (2, 2), (3, 4), (6, 30), (99, 30)])
def test_waits_double_from_one_second_to_thirty(tries, expected):
    assert RetryPolicy(jitter=Jitter.NONE).wait(tries, 0.5) == expected * SECOND


def test_full_jitter_picks_anywhere_up_to_the_wait():
    assert DEFAULT_RETRY.wait(3, 0.25) == SECOND


@pytest.mark.inventory(102)
def test_added_jitter_never_shortens_the_wait():
    live = RetryPolicy(3, 2 * SECOND, 4 * SECOND, Jitter.ADDED)
    assert live.wait(1, 0.5) == 3 * SECOND
    assert live.wait(2, 0.0) == 4 * SECOND


def test_the_road_ends_after_the_last_attempt():
    assert next_wait(DEFAULT_RETRY, 2, 1.0, None) == 2 * SECOND
    assert next_wait(DEFAULT_RETRY, 3, 1.0, None) is None


def test_a_sites_retry_after_is_a_floor():
    assert next_wait(DEFAULT_RETRY, 1, 1.0, timedelta(minutes=2)) == timedelta(minutes=2)
    assert next_wait(DEFAULT_RETRY, 1, 1.0, timedelta(0)) == SECOND


def test_a_site_cannot_send_us_away_for_over_a_day():
    assert next_wait(DEFAULT_RETRY, 1, 1.0, timedelta(days=365)) == LONGEST_RETRY_AFTER


def test_a_failed_write_is_tried_once_more_after_ten_seconds():
    assert next_wait(DATABASE_RETRY, 1, 0.3, None) == 10 * SECOND
    assert next_wait(DATABASE_RETRY, 2, 0.3, None) is None


def test_each_time_out_doubles_our_patience():
    assert [timeout_after(30 * SECOND, count) for count in range(3)] == [30 * SECOND, 60 * SECOND, 120 * SECOND]
