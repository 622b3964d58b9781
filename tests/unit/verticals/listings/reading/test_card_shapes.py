"""Result cards as sites make them: a name, a label or a place in the layout says what a number is."""

import json

import pytest

from tidemill.reading import Document
from tidemill.verticals.listings.reading import Period, parse_beds, parse_rent, parse_size, read_listings

URL = "https://homes.example/boston"


def first(card, start=1):
    """The first of three cards; `#` in a card is its number."""
    page = "<main>" + "".join(card.replace("#", str(number)) for number in range(start, start + 3)) + "</main>"
    found = read_listings(Document(page, URL)).records
    assert len(found) == 3
    return found[0].fields


def test_a_building_with_a_box_for_each_floor_plan_is_one_home():
    box = '<a href="/b/#?{0}"><div>{0}</div><div>{1}</div></a>'
    boxes = box.format("Studio", "$2,9#0+") + box.format("2 Beds", "$4,600+")
    told = first(f'<article data-listingid="b#"><h3>House #</h3><p class="address">#0 Arch St</p>{boxes}</article>')
    assert (told["id"], told["rent"], told["beds"]) == ("b1", "USD 2910 - USD 4600", "0 - 2 beds")


def test_cards_that_tell_no_place_stay_apart_where_no_block_tells_it_for_them():
    told = first(
        '<li class="row"><a href="/apa/7712345#.html">Sunny 2BR near the park</a><b>$2,80#</b>'
        '<i class="location">Quincy</i></li>'
    )
    assert (told["id"], told["neighborhood"], told["rent"]) == ("77123451", "Quincy", "$2,801")


def test_a_rent_on_request_keeps_its_card():
    told = first('<li class="c"><a href="/#">1# Elm St, Boston, MA</a><p class="pricing">Call for Rent</p></li>')
    assert told["rent"] == "Call for Rent"


def test_a_struck_out_rent_is_what_it_was():
    told = first(
        '<div class="c"><a href="/#">1# Elm St, Boston, MA</a><p class="rent"><s>$1,990</s> $1,7#0/mo</p></div>'
    )
    assert told["rent"] == "$1,710/mo"


def test_a_town_in_an_element_of_its_own_belongs_to_the_address():
    told = first(
        '<div class="c"><a href="/#">$2,45#</a><div data-testid="address-1">1# Main St Unit 4</div>'
        '<div data-testid="address-2">Cambridge, MA 02139</div></div>'
    )
    assert told["address"] == "11 Main St Unit 4, Cambridge, MA 02139"


def test_a_title_that_is_named_an_address_is_none_beside_a_door():
    told = first(
        '<li class="c"><a class="Item_address" href="/#">The Fenway</a><b>$2,3#0</b><p>1#5 Park Dr, Boston, MA</p></li>'
    )
    assert told["address"] == "115 Park Dr, Boston, MA"


def test_labels_say_what_bare_numbers_are():
    told = first(
        '<div class="c"><a href="/#">1# Broad St Apt 4, Richmond, VA 23220</a><dl><dt>Rent</dt><dd>$1,#25</dd>'
        "<dt>Square Feet</dt><dd>8#0</dd><dt>Available</dt><dd>NOW</dd></dl></div>"
    )
    assert (told["size"], told["available"]) == ("810", "NOW")


@pytest.mark.parametrize(
    "place", ["Prinsengracht #2", "Musterstraße #5, 10115 Berlin", "Piso en calle de Alcalá, #5, Madrid"]
)
def test_streets_of_the_continent_have_their_number_behind_them(place):
    told = first(f'<li class="c"><a href="/#">{place}</a><span>1.85# €</span><span>75 m²</span></li>')
    assert told["rent"] == "1.851 €"
    assert told["address"].endswith(place.replace("#", "1")[-8:])


def test_markup_without_a_rent_is_completed_by_the_card_of_the_same_home():
    marked = [
        {"@type": "House", "name": f"1{n} Elm St", "url": f"{URL}/{n}", "numberOfBedrooms": 3,
         "address": {"streetAddress": f"1{n} Elm St"}}
        for n in (1, 2, 3)
    ]  # fmt: skip
    told = first(
        f'<li class="c"><a href="{URL}/#">1# Elm St, Boston, MA</a><b>$2,#00/mo</b><i>3 bds, 2 ba</i></li>'
        + (f'<script type="application/ld+json">{json.dumps(marked)}</script>').replace("#", "")
    )
    assert (told["title"], told["rent"], told["beds"]) == ("11 Elm St", "$2,100/mo", "3")


@pytest.mark.parametrize(
    ("text", "low", "period"),
    [
        ("£2,100 pcm £485 pw", 210_000, Period.MONTH),
        ("£485 pw £2,100 pcm", 48_500, Period.WEEK),
        ("£300 - £400 pw", 30_000, Period.WEEK),
        ("1.250,50 € Kaltmiete", 125_050, Period.MONTH),
        ("1.110€/mes", 111_000, Period.MONTH),
    ],
)
def test_each_amount_has_the_period_that_stands_beside_it(text, low, period):
    rent = parse_rent(text)
    assert (rent.low, rent.period) == (low, period)


def test_a_rent_is_no_part_of_the_rooms_behind_it():
    assert parse_beds("$1425 / 1br - 700ft²").low == 1
    assert parse_size("72,5 m²").low == 780
