"""The browser fetcher's parts that need no browser."""

from pathlib import Path

import pytest

from tidemill.core.failure import Failure
from tidemill.fetching.browsers.errors import NoBrowser
from tidemill.fetching.browsers.find_browser import find_browser
from tidemill.fetching.browsers.gateway import origin_form_head
from tidemill.fetching.browsers.net_errors import navigation_failure
from tidemill.fetching.browsers.trackers import is_tracker


@pytest.mark.parametrize("host", ["google-analytics.com", "www.google-analytics.com", "WWW.Hotjar.com."])
def test_a_tracker_is_known_by_its_domain(host: str):
    assert is_tracker(host)


@pytest.mark.parametrize("host", ["notgoogle-analytics.com", "example.org", "com", "google-analytics.com.example.org"])
def test_others_are_no_trackers(host: str):
    assert not is_tracker(host)


def test_a_site_is_asked_for_the_path_alone_on_a_connection_for_one_request():
    head = b"GET http://a.example:81/b?c=d HTTP/1.1\r\nHost: a.example:81\r\nProxy-Connection: keep-alive\r\n\r\n"
    asked = origin_form_head(head, "http://a.example:81/b?c=d")
    assert asked == b"GET /b?c=d HTTP/1.1\r\nHost: a.example:81\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ("net::ERR_CERT_AUTHORITY_INVALID", Failure.TLS_FAILED),
        ("net::ERR_NAME_NOT_RESOLVED", Failure.DNS_FAILED),
        ("net::ERR_UNSAFE_PORT", Failure.ADDRESS_REFUSED),
        ("net::ERR_INVALID_REDIRECT", Failure.BAD_URL),
        ("net::ERR_INVALID_RESPONSE", Failure.SERVER_ERROR),
        ("net::ERR_ABORTED", Failure.NOT_HTML),
        ("net::ERR_SOMETHING_NEW", Failure.CONNECTION_LOST),
    ],
)
def test_chromiums_words_are_told_in_ours(error: str, failure: Failure):
    told = navigation_failure(error)
    assert told.failure is failure
    assert error in told.detail


def test_a_program_that_is_not_there_is_named_with_what_to_do():
    with pytest.raises(NoBrowser, match=r"'/no/such/chromium' is no program; .*apt install.*browser_program"):
        find_browser(Path("/no/such/chromium"))
