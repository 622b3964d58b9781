from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.services.degradation import (
    FALLBACKS,
    LONGEST_REASON,
    Service,
    ServiceState,
    degraded,
    is_outdated,
    merged_services,
    off,
    working,
)

pytestmark = pytest.mark.shows("R3")


def test_every_service_has_a_named_fallback_and_words_on_how_to_set_it_up():
    assert set(FALLBACKS) == set(Service)
    assert all(row.fallback and row.setup for row in FALLBACKS.values())


def test_a_degraded_service_says_since_when_why_and_what_happens_instead():
    status = degraded(Service.APIFY, NOON, "answered 503")
    assert (status.state, status.since, status.reason) == (ServiceState.DEGRADED, NOON, "answered 503")
    assert status.fallback == FALLBACKS[Service.APIFY].fallback
    assert not status.is_working


def test_a_long_reason_is_cut():
    assert len(degraded(Service.LLM, NOON, "x" * 10_000).reason) == LONGEST_REASON


def test_a_service_that_is_off_says_what_to_set():
    assert "scrapingbee_key" in off(Service.SCRAPINGBEE).reason
    assert off(Service.LLM, "set something else").reason == "set something else"


def test_a_service_that_works_has_nothing_to_say():
    assert working(Service.REDIS).is_working
    assert working(Service.REDIS).reason == ""


def test_a_run_names_each_service_once():
    assert merged_services(["redis"], [Service.APIFY, Service.REDIS]) == ["apify", "redis"]


def test_a_complaint_is_forgotten_after_a_while():
    assert not is_outdated(NOON, NOON + timedelta(minutes=30), timedelta(minutes=30))
    assert is_outdated(NOON, NOON + timedelta(minutes=31), timedelta(minutes=30))
