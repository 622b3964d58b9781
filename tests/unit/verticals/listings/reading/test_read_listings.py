"""Search pages are read by structured data, by selectors, or by the look of their cards; never by guessing."""

import json

import pytest

from tidemill.core.record import Strategy
from tidemill.reading import Document
from tidemill.verticals.listings.reading import read_dataset, read_listings
from tidemill.verticals.listings.reading.dataset import NotADataset
from tidemill.verticals.listings.reading.emptiness import declares_no_homes, removal_notice

URL = "https://homes.example/boston-ma"


def card(number: int) -> str:
    return (
        f'<li class="card"><h3><a href="/home/{9000 + number}">Harbor View {number}</a></h3>'
        f"<p>{number} Beacon Street, Boston, MA 02108</p><b>${1_500 + number:,}/mo</b>"
        f"<i>{number % 3 + 1} bd, 1 ba</i></li>"
    )


def test_repeated_cards_are_listings_with_their_own_links():
    cards = "".join(map(card, range(1, 6)))
    page = f"<h1>Boston</h1><ul>{cards}</ul><p>1-5 of 42 results</p><a rel=next href='?p=2'>2</a>"
    found = read_listings(Document(page, URL))
    assert [record.fields["id"] for record in found.records] == ["9001", "9002", "9003", "9004", "9005"]
    assert found.records[0].fields["address"] == "1 Beacon Street, Boston, MA 02108"
    assert found.records[0].fields["rent"] == "$1,501/mo"
    assert found.records[0].strategy is Strategy.HEURISTICS
    assert (found.total, found.next_url) == (42, f"{URL}?p=2")


def test_a_rent_in_an_article_is_no_listing():
    page = (
        "<article><h1>Rents rise</h1><p>A one-bedroom now costs $2,100 a month.</p>"
        "<p>Last year it was $1,900.</p></article>"
    )
    assert read_listings(Document(page, URL)).records == []


@pytest.mark.shows("P1")
def test_structured_data_goes_before_the_look_of_the_page():
    home = {
        "@context": "https://schema.org",
        "@type": "ItemList",
        "itemListElement": [
            {
                "@type": "ListItem",
                "item": {
                    "@type": "Apartment",
                    "name": "The Wharf",
                    "url": "/home/1",
                    "identifier": "w-1",
                    "numberOfBedrooms": 2,
                    "numberOfBathroomsTotal": 1.5,
                    "floorSize": {"value": 850, "unitCode": "FTK"},
                    "address": {"streetAddress": "5 Long Wharf", "addressLocality": "Boston", "addressRegion": "MA"},
                    "geo": {"latitude": 42.36, "longitude": -71.05},
                    "amenityFeature": [{"name": "Pool", "value": True}, {"name": "Gym", "value": False}],
                    "offers": {"@type": "AggregateOffer", "lowPrice": 2000, "highPrice": 2600, "priceCurrency": "USD"},
                },
            }
        ],
    }
    page = f'<script type="application/ld+json">{json.dumps(home)}</script><ul>{card(1)}{card(2)}</ul>'
    (record,) = read_listings(Document(page, URL)).records
    assert record.strategy is Strategy.JSONLD
    assert record.fields["rent"] == "2000 - 2600"
    assert record.fields["amenities"] == ["Pool"]
    assert record.fields["url"] == "https://homes.example/home/1"


@pytest.mark.shows("P1")
def test_selectors_of_an_adapter_go_before_heuristics():
    page = '<div class="r" data-n="7"><em>12 Elm St</em><u>$900</u></div>'
    spec = {"item": ".r", "id": "@data-n", "address": "em", "rent": "u"}
    (record,) = read_listings(Document(page, URL), spec).records
    assert record.fields == {"id": "7", "address": "12 Elm St", "rent": "$900"}


@pytest.mark.parametrize(
    "item",
    [
        {
            "id": "a1",
            "address": {"streetAddress": "1 Elm St", "city": "Boston"},
            "rent": {"min": 1500, "max": 1800},
            "beds": 2,
        },
        {
            "listingId": "a1",
            "location": {"fullAddress": "1 Elm St, Boston, MA"},
            "price": "$1,500 - $1,800",
            "beds": "2 beds",
        },
        {"zpid": "a1", "streetAddress": "1 Elm St", "rentMin": 1500, "rentMax": 1800, "bedrooms": 2},
    ],
)
def test_the_shapes_that_actors_emit_say_the_same(item: dict[str, object]):
    (record,) = read_dataset(json.dumps([item]).encode())
    assert record.fields["id"] == "a1"
    assert record.fields["address"].startswith("1 Elm St")
    assert record.fields["rent"].replace("$", "").replace(",", "") == "1500 - 1800"


def test_an_item_of_unknown_shape_says_so_and_costs_no_other():
    body = json.dumps([{"foo": 1, "bar": 2}, {"id": "b", "address": "2 Elm St", "price": 900}, 7]).encode()
    first, second, third = read_dataset(body)
    assert first.fields == {"unknown_shape": "an item with bar, foo"}
    assert second.fields["id"] == "b"
    assert third.fields == {"unknown_shape": "an item that is no object but int"}


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "no"}', b"7", b""])
def test_what_holds_no_items_is_refused_in_words(body: bytes):
    if body:
        with pytest.raises(NotADataset):
            read_dataset(body)
    else:
        assert read_dataset(body) == []


@pytest.mark.shows("L3")
@pytest.mark.parametrize(
    "page",
    [
        "<h1>This listing is no longer available</h1>",
        "<title>Listing removed</title><p>Here are similar homes.</p>",
        "<p>Sorry, this apartment has been rented.</p>",
        "<div role=alert>The property you requested is not on the market</div>" + "<p>similar homes</p>" * 2_000,
        "<p>Deze woning is niet meer beschikbaar.</p>",
    ],
)
def test_a_removal_notice_is_recognised(page: str):
    assert removal_notice(Document(page, URL))


@pytest.mark.shows("L3")
@pytest.mark.parametrize(
    "page",
    [
        "<h1>The Wharf</h1><p>Two beds, available now for $2,000.</p>",
        "<h1>The Wharf</h1>" + "<p>A fine home in a fine street.</p>" * 300 + "<p>12 Elm St is no longer available</p>",
        "<h1>Please verify that you are human</h1>",
        "<h1>The Wharf</h1><p>This apartment is available now.</p>",
        "<h1>The Wharf</h1><p>The property is available from June 1. This listing is active.</p>",
        "<h1>The Wharf</h1><p>This home has been listed for 3 days.</p>",
        "<h1>The Wharf</h1><p>The unit is rented unfurnished.</p>",
        "<h1>The Wharf</h1><p>This unit may be available soon.</p>",
        "<h1>The Wharf</h1><nav>Off-market homes nearby</nav>",
    ],
)
def test_a_page_that_says_no_such_thing_is_no_notice(page: str):
    assert removal_notice(Document(page, URL)) == ""


def test_a_search_without_results_says_so():
    assert declares_no_homes(Document("<p>No rentals found in Hartford.</p>", URL))
    assert declares_no_homes(Document("<p>We couldn't find any apartments that match.</p>", URL))
    assert not declares_no_homes(Document("<p>Welcome home.</p>", URL))
