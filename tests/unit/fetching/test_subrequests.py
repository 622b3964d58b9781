"""What a page asks for by itself: left out, bounded, judged and counted."""

import pytest

from tidemill.fetching.browsers.subrequests import MOST_SUBREQUESTS, SubRequests


def paused(url: str, kind: str = "Script") -> dict[str, object]:
    return {"resourceType": kind, "request": {"url": url}}


@pytest.mark.shows("F6")
def test_scripts_and_data_go_on_and_count() -> None:
    subrequests = SubRequests(None)
    assert subrequests.allow(paused("https://a.example/app.js"))
    assert subrequests.allow(paused("https://api.a.example/list", "XHR"))
    assert subrequests.hosts_requested((), "a.example") == ("a.example", "api.a.example")


@pytest.mark.parametrize("kind", ["Image", "Media", "Font", "Ping"])
def test_what_nobody_needs_is_left_out(kind: str) -> None:
    subrequests = SubRequests(None)
    assert not subrequests.allow(paused("https://a.example/x", kind))
    assert subrequests.hosts_requested((), "a.example") == ()


def test_a_tracker_is_left_out() -> None:
    assert not SubRequests(None).allow(paused("https://www.google-analytics.com/analytics.js"))


def test_what_leaves_for_nowhere_goes_on_and_does_not_count() -> None:
    subrequests = SubRequests(None)
    assert subrequests.allow(paused("data:text/javascript,1"))
    assert subrequests.hosts_requested((), "a.example") == ()


@pytest.mark.shows("F5")
def test_what_robots_txt_forbids_is_not_asked_for() -> None:
    subrequests = SubRequests(lambda url: "/private" not in url)
    assert not subrequests.allow(paused("https://a.example/private/list", "XHR"))
    assert subrequests.allow(paused("https://a.example/list", "XHR"))


def test_a_page_that_never_has_enough_is_bounded() -> None:
    subrequests = SubRequests(None)
    assert [subrequests.allow(paused("https://a.example/x")) for _ in range(MOST_SUBREQUESTS + 5)].count(
        True
    ) == MOST_SUBREQUESTS


@pytest.mark.shows("F6")
def test_the_larger_of_both_counts_holds_and_the_document_counts_once() -> None:
    subrequests = SubRequests(None)
    for _ in range(3):
        subrequests.allow(paused("https://a.example/x"))
    connected = ["a.example", "b.example", "b.example"]  # a tunnel for four requests, and two that were never paused
    assert sorted(subrequests.hosts_requested(connected, "a.example")) == ["a.example"] * 3 + ["b.example"] * 2
