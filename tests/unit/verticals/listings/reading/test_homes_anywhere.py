"""Homes as other countries write them, and ids that are the home's own."""

import pytest

from tidemill.reading import Document
from tidemill.verticals.listings.reading import parse_beds, parse_rent, parse_size, read_listings


@pytest.mark.parametrize(
    ("text", "cents", "currency"),
    [
        ("1.250,50 \u20ac", 125050, "EUR"),
        ("1450 euro", 145000, "EUR"),
        ("1.200 CHF", 120000, "CHF"),
        ("CHF 2'100.-", 210000, "CHF"),
        ("2 100 z\u0142", 210000, "PLN"),
        ("1 250 \u20ac CC", 125000, "EUR"),
    ],
)
def test_a_rent_has_its_currency_behind_it_too(text: str, cents: int, currency: str) -> None:
    rent = parse_rent(text)
    assert rent is not None
    assert (rent.low, rent.currency) == (cents, currency)


@pytest.mark.parametrize("text", ["65 m\u00b2", "65 m 2", "65 qm", "65 mq", "65 kvm", "65 metri quadri"])
def test_square_metres_have_many_names(text: str) -> None:
    size = parse_size(text)
    assert size is not None
    assert size.low == 700


@pytest.mark.parametrize(
    ("text", "beds"),
    [("3 Zimmer", 2), ("3-Zimmer-Wohnung", 2), ("3 kamers", 2), ("3 pi\u00e8ces", 2), ("T3", 2), ("2 slaapkamers", 2),
     ("1 Zimmer", 0), ("2 dormitorios", 2)],
)  # fmt: skip
def test_of_rooms_that_are_all_counted_one_is_to_live_in(text: str, beds: int) -> None:
    found = parse_beds(text)
    assert found is not None
    assert found.low == beds


def card(number: int, agent: str = "4711") -> str:
    return (
        f'<li class="card" data-id="{agent}"><a href="/share?u={number}">Share</a>'
        f'<a href="/homes/house-{number}"><h3>{number} Main Street</h3></a><span class="price">$1,{number}00/mo</span>'
        f"<span>{number} beds</span></li>"
    )


@pytest.mark.shows("L4")
def test_a_number_that_neighbours_share_is_no_homes_id() -> None:
    page = f"<html><body><ul>{''.join(map(card, range(1, 7)))}</ul></body></html>"
    records = read_listings(Document(page, "https://homes.example/search")).records
    assert len(records) == 6
    assert not any("id" in record.fields for record in records)
    assert {record.fields["url"] for record in records} == {
        f"https://homes.example/homes/house-{number}" for number in range(1, 7)
    }
