"""Which failed polls say that a site is unwell."""

from datetime import UTC, datetime, timedelta

import pytest

from tidemill.core.breaker import Breaker, Closed, Open, Probing, ask, failed, succeeded
from tidemill.core.live.site_failures import SiteFailures, after_good_reading, counts_against_site
from tidemill.core.policy import LIVE

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def heard(failing: list[int], pages: int) -> int:
    failures, count = SiteFailures(), 0
    for page in failing:
        failures, counts = counts_against_site(failures, page, pages, LIVE.breaker.threshold)
        count += counts
    return count


@pytest.mark.shows("R1")
@pytest.mark.parametrize("pages", [2, 3, 4, 40])
@pytest.mark.inventory(19)
def test_one_dead_page_never_opens_the_breaker_of_its_site(pages: int) -> None:
    assert heard([7] * 1_000, pages) < LIVE.breaker.threshold


@pytest.mark.shows("R1")
@pytest.mark.parametrize(
    ("failing", "pages"), [([1] * 5, 1), ([1, 2] * 3, 2), ([1, 2, 3] * 2, 3), ([1, 2, 3, 4, 5], 40)]
)
def test_a_site_whose_pages_all_fail_opens_its_breaker(failing: list[int], pages: int) -> None:
    assert heard(failing, pages) >= LIVE.breaker.threshold


def test_a_good_reading_forgets_the_failures() -> None:
    failures, _ = counts_against_site(SiteFailures(), 1, 3, 5)
    assert after_good_reading(failures) == SiteFailures()


@pytest.mark.shows("R1")
@pytest.mark.inventory(20, 23)
def test_the_live_breaker_opens_after_5_for_60_seconds_at_most_2_minutes_and_closes_after_5() -> None:
    policy, breaker = LIVE.breaker, Closed()
    state: Breaker = breaker
    for _ in range(5):
        state = failed(state, policy, NOON)
    assert state == Open(NOON + timedelta(seconds=60), 1)
    state, _ = ask(state, policy, NOON + timedelta(seconds=60))
    assert failed(state, policy, NOON) == Open(NOON + timedelta(minutes=2), 2)
    assert policy.cooldown_after(9) == timedelta(minutes=2)
    for _ in range(4):
        state = succeeded(state, policy)
        assert isinstance(state, Probing)
    assert succeeded(state, policy) == Closed()
