"""A feed that answers with a page of a firewall refused us; only one that is neither has changed."""

from datetime import UTC, datetime

import pytest

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.verticals.matches.sources.feed import JsonFeed

pytestmark = pytest.mark.shows("P4")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "https://scores.example/live.json"
SOURCE = Source(id=1, name="scores", vertical="matches", base_url="https://scores.example/", adapter_id="matches.feed")


REFUSED = """<html><head><title>Access Denied</title></head><body><h1>Access Denied</h1>
<p>You don't have permission to access this server.</p></body></html>"""
CHANGED = "<html><body><h1>Scores have moved</h1><p>See our new page for every match.</p></body></html>"


@pytest.mark.parametrize(("body", "failure"), [(REFUSED, Failure.BLOCKED_PAGE), (CHANGED, Failure.LAYOUT_CHANGED)])
def test_a_page_in_the_place_of_a_feed_is_told_apart(body: str, failure: Failure) -> None:
    page = Page(
        id=1, url=URL, final_url=URL, status_code=200, body=body.encode(), charset="utf-8", content_type="text/html",
        digest=1, fetched_at=NOW,
    )  # fmt: skip
    reading = JsonFeed().read(page, Context(SOURCE, URL, NOW))
    assert isinstance(reading, Fail)
    assert reading.failure is failure
