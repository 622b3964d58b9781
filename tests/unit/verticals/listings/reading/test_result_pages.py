"""Result pages as sites of many kinds build them: rows, cards, tables, data in scripts, JSON-LD in its variants."""

import json

import pytest

from tidemill.core.record import Strategy
from tidemill.reading import Document
from tidemill.verticals.listings.reading import read_listings

URL = "https://homes.example/boston-ma"


def read(page):
    return read_listings(Document(page, URL))


def first(page):
    return read(page).records[0].fields


def many(template):
    return "".join(template.replace("%", str(number)) for number in range(1, 6))


def script(value, kind="application/ld+json"):
    return f'<script type="{kind}">{json.dumps(value)}</script>'


ROWS = many(
    '<li class="result-row" data-pid="77%12345"><p><time datetime="2026-11-0%">Nov %</time>'
    '<a href="/gbs/apa/77%12345.html" class="result-title">Bright % bedroom on Comm Ave</a><span class="meta">'
    '<span class="result-price">$2,%50</span><span class="housing">%br - 8%0ft<sup>2</sup> - </span>'
    '<span class="result-hood"> (Brighton)</span></span></p></li>'
)
CARDS = many(
    '<li><article><a href="/homedetails/%1-Main-St/90%11_zpid/"><address>%1 Main St, Boston, MA 02115</address></a>'
    "<span>$%,500/mo</span><ul><li><b>%</b> <abbr>bds</abbr></li><li><b>1</b> <abbr>ba</abbr></li>"
    "<li><b>7%0</b> <abbr>sqft</abbr></li></ul></article></li>"
)
TABLE = (
    "<table><tr><th>Address</th><th>Beds</th><th>Baths</th><th>Rent</th><th>Available</th></tr>"
    + many(
        '<tr><td><a href="/listing/%">%4 Beacon St #%, Boston, MA</a></td><td>%</td><td>1.5</td><td>$2,%00</td>'
        "<td>12/0%/2026</td></tr>"
    )
    + "</table>"
)
HOMES = [
    {"zpid": f"90{n}", "detailUrl": f"/homedetails/{n}", "addressStreet": f"{n}1 Main St", "addressCity": "Boston",
     "price": f"${n},500/mo", "beds": n, "baths": 1, "latLong": {"latitude": 42.3, "longitude": -71.1}}
    for n in range(1, 4)
]  # fmt: skip
STATE = {"props": {"pageProps": {"featured": HOMES[:1], "searchResults": {"listResults": HOMES}}}}


def test_rows_without_an_address_tell_their_neighbourhood_and_their_number():
    home = first(f"<ul>{ROWS}</ul>")
    assert (home["id"], home["neighborhood"], home["rent"]) == ("77112345", "Brighton", "$2,150")
    assert "address" not in home


def test_a_bare_count_and_a_link_that_is_called_next_are_understood():
    found = read(
        f"<span class=totalcount>2,345</span><ul>{ROWS}</ul><a class='button next' href='?s=120'>next &gt;</a>"
    )
    assert (found.total, found.next_url) == (2_345, f"{URL}?s=120")


def test_cards_with_their_number_in_the_link_are_read():
    home = first(f"<ul>{CARDS}</ul>")
    assert home["id"] == "90111"
    assert home["address"] == "11 Main St, Boston, MA 02115"
    assert (home["beds"], home["baths"], home["size"]) == ("1 bds", "1 ba", "710 sqft")


def test_a_tables_head_says_what_its_bare_numbers_are():
    home = first(TABLE)
    assert (home["address"], home["beds"], home["baths"]) == ("14 Beacon St #1, Boston, MA", "1", "1.5")
    assert (home["rent"], home["available"]) == ("$2,100", "12/01/2026")


def test_the_longest_list_in_a_pages_own_data_is_read_where_nothing_else_is_shown():
    found = read("<div id=app></div>" + script(STATE, "application/json"))
    assert [record.fields["id"] for record in found.records] == ["901", "902", "903"]
    assert found.records[0].strategy is Strategy.DATASET
    assert found.records[0].fields["url"] == "https://homes.example/homedetails/1"


def test_data_of_a_few_featured_homes_does_not_stand_for_the_cards():
    found = read(f"<ul>{CARDS}</ul>" + script({"featured": HOMES[:1]}, "application/json"))
    assert len(found.records) == 5


def test_broken_data_in_a_script_costs_nothing():
    assert len(read(f'<script type="application/json">{{"a": </script><ul>{CARDS}</ul>').records) == 5


@pytest.mark.parametrize(
    ("words", "total"),
    [
        ("<h1>812 apartments for rent in Boston</h1>", 812),
        ("<p>Showing 25 of 1,700 Results</p>", 1_700),
        ("<div class=resultsCount>42 Rentals</div>", 42),
        ("<h1>Rents from $1,812 for homes in Boston</h1>", None),
        ("<h1>Boston</h1>", None),
    ],
)
def test_the_sites_own_count_is_found_where_result_pages_say_it(words, total):
    assert read(f"{words}<ul>{CARDS}</ul>").total == total


HOME = {"@type": "Apartment", "numberOfBedrooms": 2, "address": {"streetAddress": "1 Elm St", "addressRegion": "MA"}}


@pytest.mark.parametrize(
    "value",
    [
        {"@type": "Product", "name": "Elm", "url": "/p/1", "offers": {"price": 1800, "itemOffered": HOME}},
        {"@graph": [HOME | {"@id": f"{URL[:-10]}/p/1", "offers": {"price": "1800"}}]},
        {"@type": "SearchResultsPage", "mainEntity": {"@type": "ItemList", "itemListElement": [
            {"@type": "ListItem", "item": HOME | {"url": "/p/1", "offers": {"priceSpecification": {"price": 1800}}}}]}},
        [{"@type": "RealEstateListing", "url": "/p/1", "about": HOME, "offers": [{"price": 1800}]}],
    ],
)  # fmt: skip
def test_json_ld_says_the_same_however_it_is_wrapped(value):
    (record,) = read(script(value)).records
    told = record.fields
    assert (told["rent"], told["beds"], told["address"], told["url"]) == (
        "1800", "2", "1 Elm St", "https://homes.example/p/1",
    )  # fmt: skip
