"""A page of one property whose units tell no place, and rents beside other labels on their line."""

import pytest

from tidemill.core.record import Found
from tidemill.reading import Document
from tidemill.verticals.listings.reading import parse_rent, read_listings

pytestmark = pytest.mark.shows("L1b")

URL = "https://parkview.example/units"
PLACE = (
    '<script type="application/ld+json">{"@type":"ApartmentComplex","name":"Park View","address":{"@type":'
    '"PostalAddress","streetAddress":"500 Park View Dr","addressLocality":"Columbus","addressRegion":"OH"}%s}</script>'
)
HEAD = "<tr><th>Apartment</th><th>Sq.Ft.</th><th>Rent</th><th>Action</th></tr>"
ROW = "<tr><td>#{unit}</td><td>70{unit}</td><td>$1,2{unit}5</td><td><button>Select</button></td></tr>"
TABLE = (
    f"<h3>Plan One - 1 Bedroom, 1 Bathroom</h3><table>{HEAD}{''.join(ROW.format(unit=n) for n in (1, 2, 3))}</table>"
)


def read(body: str) -> Found:
    return read_listings(Document(f"<body><h1>Park View</h1>{body}</body>", URL))


def test_units_of_one_property_stand_at_its_address() -> None:
    found = read(PLACE % "" + TABLE)
    assert [(each.fields["unit"], each.fields["rent"], each.fields["size"]) for each in found.records] == [
        ("#1", "$1,215", "701"), ("#2", "$1,225", "702"), ("#3", "$1,235", "703"),
    ]  # fmt: skip
    assert {each.fields["address"] for each in found.records} == {"500 Park View Dr"}
    assert all("1 Bedroom" in each.fields["beds"] and each.fields["url"] == URL for each in found.records)
    assert all((each.places or {})["address"].startswith("json-ld") for each in found.records)


def test_a_property_that_tells_its_rent_stays_one() -> None:
    found = read(PLACE % ',"offers":{"price":"1200","priceCurrency":"USD"}' + TABLE)
    assert [each.fields["title"] for each in found.records] == ["Park View"]


def test_a_property_without_units_stays_as_it_is() -> None:
    assert [each.fields["address"] for each in read(PLACE % "").records] == ["500 Park View Dr"]


def test_homes_that_tell_their_own_place_are_not_units_of_another() -> None:
    card = "<li><a href='/h/{n}'>{n}4 Elm St, Columbus, OH 43215</a> $1,2{n}5 2 beds</li>"
    cards = "".join(card.format(n=n) for n in range(1, 5))
    found = read(PLACE % "" + f"<ul>{cards}</ul>")
    assert all(each.fields["address"].startswith(f"{n}4 Elm") for n, each in enumerate(found.records, start=1))


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("Rent: $1,375 Security deposit: $1,375 Pets: no", 137_500),
        ("Kaltmiete: 950 € Deposit: 1.900 €", 95_000),
        ("1183 Bryden Rd, Columbus, OH Security deposit: $500", None),
        ("Pet rent: $35", None),
    ],
)
def test_a_rents_own_label_goes_before_the_next_one(text: str, cents: int | None) -> None:
    rent = parse_rent(text)
    assert (rent.low if rent is not None else None) == cents


def test_a_quarter_with_an_ordinal_and_a_postal_code_is_a_place() -> None:
    card = "<li><a href='/a/21011122{n}.htm'></a><b>1 050 € /mois cc</b><i>64 m²</i><u>Rive, Lyon 4ème (69004)</u></li>"
    found = read(f"<ul>{''.join(card.format(n=n) for n in range(1, 4))}</ul>")
    assert {each.fields["neighborhood"] for each in found.records} == {"Rive, Lyon 4ème (69004)"}
    assert all(each.fields["title"] for each in found.records)


@pytest.mark.parametrize("size", ["680 Sq. Ft.", "1,020 sq ft", "910 square feet"])
def test_a_size_is_no_square(size: str) -> None:
    told = f"<b>1 Bed</b> <i>{size}</i>"
    plans = "".join(
        f"<div class=plan><h3>Cedar {n}</h3>{told} <u>$1,1{n}9</u> <a href='/p/{n}'>View</a></div>" for n in range(1, 4)
    )
    found = read(PLACE % "" + plans)
    assert {each.fields["address"] for each in found.records} == {"500 Park View Dr"}
    assert len(found.records) == 3
