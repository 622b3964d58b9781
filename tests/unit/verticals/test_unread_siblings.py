"""A card built like its siblings whose date or price nobody can read is a record that is dropped, never skipped."""

from datetime import UTC, datetime

import pytest

from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped, Verdict
from tidemill.core.vertical import Context, Vertical
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.listings.definition import LISTINGS
from tidemill.verticals.prices.definition import PRICES

pytestmark = pytest.mark.shows("P3b")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "https://site.example/list"


def verdicts(vertical: Vertical, adapter: str, body: str, **settings: str) -> list[Verdict]:
    source = Source(
        id=1, name="site", vertical=vertical.name, base_url="https://site.example/", adapter_id=adapter, language="en",
        city="Arnhem", adapter_settings=settings,
    )  # fmt: skip
    markup = f'<html lang="en"><head><title>List</title></head><body><main>{body}</main></body></html>'
    page = Page(
        id=1, url=URL, final_url=URL, status_code=200, body=markup.encode(), charset="utf-8", content_type="text/html",
        digest=1, fetched_at=NOW,
    )  # fmt: skip
    context = Context(source, URL, NOW)
    found = vertical.adapters[adapter].read(page, context)
    assert isinstance(found, Found), found
    return [vertical.judge(record, context) for record in found.records]


def event(number: int, date: str) -> str:
    return (
        f'<article class="card"><h3><a href="/event/{number}">An evening of music {number}</a></h3>'
        f'<p class="when">{date}</p><p class="where">Hall {number}</p></article>'
    )


@pytest.mark.parametrize("odd", ["every other full moon", "32 Brumaire", "soon"])
def test_of_five_equal_events_the_unreadable_one_is_dropped_and_named(odd: str) -> None:
    dates = ["4 April 2026", "5 April 2026", odd, "7 April 2026", "8 April 2026"]
    judged = verdicts(EVENTS, "events.generic", "".join(event(number, date) for number, date in enumerate(dates)))
    assert sum(isinstance(one, Accepted) for one in judged) == 4
    assert [one for one in judged if isinstance(one, Dropped)] == [Dropped("unreadable_date", odd)]


def test_what_merely_stands_beside_events_is_none() -> None:
    dates = ["4 April 2026", "5 April 2026", "7 April 2026"]
    promotion = '<article class="promo"><h3><a href="/join">Become a friend of the house</a></h3><p>Now!</p></article>'
    other = '<article class="card"><h3><a href="/more">More events in our archive</a></h3></article>'
    body = "".join(event(number, date) for number, date in enumerate(dates)) + promotion + other
    assert [type(one) for one in verdicts(EVENTS, "events.generic", body)] == [Accepted] * 3


def home(number: int, rent: str) -> str:
    return (
        f'<div class="result"><a href="/home/{number}">See it</a><h4 class="address">{number} Elm Street, Boston, MA'
        f'</h4><span class="price">{rent}</span><span class="beds">2 beds</span></div>'
    )


def test_of_five_equal_homes_the_unreadable_one_is_dropped_and_named() -> None:
    rents = ["$2,100", "$1,900", "see the flyer", "$2,400", "$2,600"]
    judged = verdicts(
        LISTINGS, "listings.search", "".join(home(10 + number, rent) for number, rent in enumerate(rents))
    )
    assert sum(isinstance(one, Accepted) for one in judged) == 4
    (dropped,) = [one for one in judged if isinstance(one, Dropped)]
    assert dropped.reason == "UNREADABLE_RENT"
    assert "see the flyer" in dropped.detail


def offer(number: int, price: str) -> str:
    return (
        f'<div class="product"><h3><a href="/p/{number}">Harrow 9mm Luger {number} grain</a></h3>'
        f'<span class="price">{price}</span><button>Add to cart</button></div>'
    )


def test_of_five_equal_offers_the_unreadable_one_is_dropped_and_named() -> None:
    amounts = ["$14.95", "$15.95", "$1x.9?", "$17.95", "$18.95"]
    body = "".join(offer(115 + number, price) for number, price in enumerate(amounts))
    judged = verdicts(PRICES, "prices.generic", body, page="list", currency="USD")
    assert sum(isinstance(one, Accepted) for one in judged) == 4
    assert [one.reason for one in judged if isinstance(one, Dropped)] == ["MISSING_REQUIRED_FIELD"]
