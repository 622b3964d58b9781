"""Addresses that no street's name gives away, and rooms and sizes told in words."""

import pytest

from tidemill.reading import Document
from tidemill.verticals.listings.reading import parse_baths, parse_beds, parse_size, read_listings


def addresses(lines: str) -> list[str]:
    card = (
        '<div class="c"><a href="/p/{0}"><h3>{1}</h3></a><p>{2}</p><b>\u20ac 1.{0}00 per month</b>'
        "<i>2{0} m\u00b2</i></div>"
    )
    title, _, street = lines.partition(" / ")
    cards = "".join(card.format(number, title, street) for number in (1, 2))
    found = read_listings(Document(f"<html><body><main>{cards}</main></body></html>", "https://homes.example/"))
    return [str(record.fields.get("address", "")) for record in found.records]


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        ("Helle Wohnung / Sch\u00f6nhauser Allee 44, 10437 Berlin", "Sch\u00f6nhauser Allee 44, 10437 Berlin"),
        ("Wohnung / Venloer Str. 210, 50823 K\u00f6ln", "Venloer Str. 210, 50823 K\u00f6ln"),
        ("Te huur / Overtoom 21, 1054 HB Amsterdam", "Overtoom 21, 1054 HB Amsterdam"),
        ("Kamer Singelstraat, Groningen / inclusief", "Singelstraat, Groningen"),
        ("Studio Overtoom 21, Amsterdam / inclusief", "Overtoom 21, Amsterdam"),
        ("2 bedroom flat / Camden Road, London NW1 9LR", "Camden Road, London NW1 9LR"),
        ("Studio / Gower Street, London WC1E 6BT", "Gower Street, London WC1E 6BT"),
        ("Room for rent, call us / today", ""),
    ],
)
@pytest.mark.shows("L1b")
def test_an_address_is_known_by_its_postal_code_or_town(lines: str, address: str) -> None:
    assert addresses(lines) == [address, address]


@pytest.mark.parametrize(
    ("text", "beds"), [("Two bedrooms", 2), ("drie slaapkamers", 3), ("deux chambres", 2), ("1 + den, 1 bath", 1)]
)
def test_bedrooms_are_read_in_words(text: str, beds: int) -> None:
    span = parse_beds(text)
    assert span is not None
    assert (span.low, span.high) == (beds, beds)


@pytest.mark.parametrize(("text", "baths"), [("One bathroom", 1), ("1 badk.", 1), ("2 B\u00e4der", 2)])
def test_bathrooms_are_read_in_more_languages(text: str, baths: int) -> None:
    span = parse_baths(text)
    assert span is not None
    assert span.low == baths


def test_a_size_is_read_behind_its_unit() -> None:
    span = parse_size("Square Feet 750")
    assert span is not None
    assert span.low == 750
    assert parse_size("Sq. Ft.: 1,250 | 2 beds") is not None
    assert parse_size("sqft from $750") is None
