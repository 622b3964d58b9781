"""How the live lane runs follows from the settings: the designs' figures by default, others when they are set."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tidemill.bootstrap.live.lane import lane_options, live_policy, with_live_breakers
from tidemill.engine.live.options import MEGABYTE
from tidemill.settings import Settings
from tidemill.verticals.matches.definition import MATCHES

SECOND = timedelta(seconds=1)


@pytest.mark.shows("M2")
@pytest.mark.inventory(47, 48, 49, 58)
def test_the_lane_runs_by_the_settings() -> None:
    usual = lane_options(Settings())
    assert (usual.polling.in_play, usual.contexts.stale_after) == (2.5 * SECOND, 300 * SECOND)
    assert (usual.most_waiting, usual.most_waiting_bytes) == (1_000, 10 * MEGABYTE)
    assert usual.polling.is_adaptive
    assert usual.timeouts.is_adaptive
    other = lane_options(
        Settings(
            live_interval_seconds=4, live_stale_seconds=90, live_buffer_changes=7, live_buffer_megabytes=2,
            live_adaptive_polling=False, live_adaptive_timeouts=False,
        )
    )  # fmt: skip
    assert (other.polling.in_play, other.contexts.stale_after) == (4 * SECOND, 90 * SECOND)
    assert (other.most_waiting, other.most_waiting_bytes) == (7, 2 * MEGABYTE)
    assert not other.polling.is_adaptive
    assert not other.timeouts.is_adaptive


@pytest.mark.shows("R1")
@pytest.mark.inventory(20, 50)
def test_live_verticals_have_the_breaker_of_the_settings_and_no_others() -> None:
    settled = replace(MATCHES, name="settled", live=None)
    given = {"matches": MATCHES, "settled": settled}
    usual = with_live_breakers(given, Settings())["matches"].policy.breaker
    assert (usual.threshold, usual.cooldown, usual.successes_to_close) == (5, 60 * SECOND, 5)
    made = with_live_breakers(given, Settings(live_breaker_failures=3, live_breaker_seconds=9))
    assert (made["matches"].policy.breaker.threshold, made["matches"].policy.breaker.cooldown) == (3, 9 * SECOND)
    assert made["settled"] is settled


@pytest.mark.shows("M1")
@pytest.mark.inventory(71, 72, 74)
def test_pauses_and_archiving_follow_the_settings() -> None:
    usual, other = live_policy(Settings()), live_policy(Settings(live_pause_failures=2, live_archive_hours=1))
    assert usual != other
    assert (usual.pause, usual.archive_after) == (300 * SECOND, timedelta(hours=24))
