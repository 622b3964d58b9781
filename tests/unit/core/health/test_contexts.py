"""Scraper contexts: how they fare, and when they start anew."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tidemill.core.health.contexts import (
    MEBIBYTE,
    ContextHealth,
    ContextUsage,
    RestartReason,
    ScraperContext,
    age_of,
    context_of,
    health_status,
    restart_reason,
    restarted,
)
from tidemill.core.live.change import ThingKey
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.live.rules import Phase
from tidemill.core.live.status import PageStatus

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
PLAIN = ScraperContext(
    scraper_id="a", vertical="tallies", thing_key="t1", url="https://site/t1", start_time=NOON, phase=Phase.IN_PLAY
)


def context(**other: object) -> ScraperContext:
    return msgspec.structs.replace(PLAIN, **{"last_update_time": NOON, **other})


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


@pytest.mark.shows("H1")
@pytest.mark.inventory(8, 17)
@pytest.mark.parametrize(
    ("errors", "seconds", "wanted"),
    [
        (0, 0, ContextHealth.HEALTHY),
        (2, 120, ContextHealth.HEALTHY),
        (3, 0, ContextHealth.DEGRADED),
        (0, 120.1, ContextHealth.DEGRADED),
        (5, 300, ContextHealth.DEGRADED),
        (6, 0, ContextHealth.FAILING),
        (0, 300.1, ContextHealth.FAILING),
    ],
)
def test_errors_in_a_row_and_age_decide_how_a_context_fares(errors: int, seconds: float, wanted: ContextHealth) -> None:
    assert health_status(context(error_count=errors), at(seconds)) is wanted


@pytest.mark.shows("H1", "B3")
@pytest.mark.inventory(5, 12, 13, 14, 15, 16)
@pytest.mark.parametrize(
    ("fields", "seconds", "wanted"),
    [
        ({}, 300, None),
        ({}, 300.1, RestartReason.UNCHECKED),
        ({"last_update_time": at(21600)}, 21600, None),
        ({"last_update_time": at(21600)}, 21600.1, RestartReason.AGE),
        ({"error_count": 10}, 0, None),
        ({"error_count": 11}, 0, RestartReason.ERRORS),
        ({"usage": ContextUsage(memory_bytes=1536 * MEBIBYTE)}, 60, None),
        ({"usage": ContextUsage(memory_bytes=1536 * MEBIBYTE + 1)}, 60, RestartReason.MEMORY),
        ({"usage": ContextUsage(memory_bytes=1536 * MEBIBYTE + 1)}, 59.9, None),  # it has just started
        ({"lifecycle": Lifecycle.PAUSED}, 600, None),
        ({"phase": Phase.COMPLETED, "polling_interval": timedelta(minutes=5)}, 600, None),
        ({"phase": Phase.COMPLETED, "polling_interval": timedelta(minutes=5)}, 900.1, RestartReason.UNCHECKED),
    ],
)
def test_a_context_starts_anew_by_age_silence_errors_or_memory(
    fields: dict[str, object], seconds: float, wanted: RestartReason | None
) -> None:
    assert restart_reason(context(**fields), at(seconds)) is wanted


@pytest.mark.shows("B3")
def test_a_restart_keeps_all_times_and_is_not_repeated_at_once() -> None:
    dead = context(error_count=11, total_errors=40, total_updates=7)
    again = restarted(dead, at(400))
    assert (again.last_update_time, again.error_count, again.total_errors, again.restarts) == (NOON, 11, 40, 1)
    assert age_of(again, at(401)) == timedelta(seconds=401)
    assert health_status(again, at(401)) is ContextHealth.FAILING
    assert restart_reason(again, at(700)) is None
    assert restart_reason(again, at(700.1)) is RestartReason.UNCHECKED
    assert restart_reason(msgspec.structs.replace(again, error_count=22), at(401)) is RestartReason.ERRORS


def test_a_context_that_was_never_checked_ages_from_its_start() -> None:
    assert age_of(context(last_update_time=None), at(42)) == timedelta(seconds=42)
    assert age_of(context(last_update_time=at(5)), NOON) == timedelta(0)


def test_a_page_that_is_asked_every_five_minutes_is_late_only_after_two_of_them() -> None:
    ended = context(phase=Phase.COMPLETED, polling_interval=timedelta(minutes=5))
    assert health_status(ended, at(600)) is ContextHealth.HEALTHY
    assert health_status(ended, at(600.1)) is ContextHealth.DEGRADED
    assert health_status(ended, at(750.1)) is ContextHealth.FAILING


@pytest.mark.inventory(1, 2, 3, 4, 6, 7, 11)
def test_a_context_is_made_from_the_page_that_the_lane_polls() -> None:
    page = PageStatus(
        scraper_id="s", thing=ThingKey("tallies", "t1"), source_id=3, source="site", target_id=9, url="https://site/t1",
        job_id=1, started_at=NOON, phase=Phase.IN_PLAY, lifecycle=Lifecycle.ACTIVE, interval=timedelta(seconds=2),
        checked_at=at(3), changed_at=at(1), failures=1, total_failures=4, polls=30, changes=5,
        latency=timedelta(milliseconds=80), debt=timedelta(seconds=1),
    )  # fmt: skip
    made = context_of(page, ContextUsage(memory_bytes=5, cpu_percent=1.5, browser_pid=77))
    assert (made.scraper_id, made.thing_key, made.url) == ("s", "t1", "https://site/t1")
    assert (made.start_time, made.last_update_time, made.changed_at) == (NOON, at(3), at(1))
    assert (made.error_count, made.total_errors, made.total_updates) == (1, 4, 26)
    assert (made.usage.memory_bytes, made.usage.cpu_percent, made.usage.browser_pid) == (5, 1.5, 77)
    assert made.polling_interval == timedelta(seconds=2)
    assert context_of(msgspec.structs.replace(page, thing=None)).thing_key == ""
