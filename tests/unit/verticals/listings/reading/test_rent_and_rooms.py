"""Rents, beds, baths and sizes as listings write them."""

import pytest

from tidemill.verticals.listings.reading import Period, Span, parse_baths, parse_beds, parse_rent, parse_size


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("$1,450 - $2,100/mo", 145_000, 210_000),
        ("$1,450\u2013$1,900", 145_000, 190_000),
        ("$1,450", 145_000, None),
        ("$2,850.00 monthly", 285_000, None),
        ("€ 1.450,00 p.m.", 145_000, None),
        ("£1,200 pcm", 120_000, None),
        ("Rent: $1.5k", 150_000, None),
        ("USD 1 450", 145_000, None),
        ("1450", 145_000, None),
        ("$1,995/mo, $500 deposit", 199_500, None),
        ("Save $50 off, now $1,450", 145_000, None),
        ("Was $2,400 now $2,250", 225_000, None),
        ("$1,200-1,500 / month", 120_000, 150_000),
        ("$1,200 to 1,500", 120_000, 150_000),
        ("$1,200 - 1,500 sqft", 120_000, None),
        ("$2,100/mo + $50 fees", 210_000, None),
    ],
)
def test_an_amount_or_a_range_is_read_in_cents(text: str, low: int, high: int | None):
    rent = parse_rent(text)
    assert rent is not None
    assert (rent.low, rent.high) == (low, high)


@pytest.mark.parametrize("text", ["Call for Rent", "Contact for price", "Price upon request", "TBD"])
def test_a_rent_on_request_is_no_amount_and_no_zero(text: str):
    rent = parse_rent(text)
    assert rent is not None
    assert rent.on_request


@pytest.mark.parametrize("text", ["", "2 beds", "$2,000 deposit", "$99 application fee", "$0", "Studio", "$500 off"])
def test_what_is_no_rent_is_none(text: str):
    assert parse_rent(text) is None


def test_weeks_and_years_come_to_months_and_nights_to_nothing():
    assert (week := parse_rent("$350 per week")) is not None
    assert week.period is Period.WEEK
    assert week.monthly(week.low) == 151_667
    assert (year := parse_rent("$24,000 / year")) is not None
    assert year.monthly(year.low) == 200_000
    assert (night := parse_rent("$120/night")) is not None
    assert night.monthly(night.low) is None


def test_per_person_and_from_are_noted():
    assert (each := parse_rent("$800 / person")) is not None
    assert each.per_person
    assert (least := parse_rent("From $1,200")) is not None
    assert least.open_ended
    assert (more := parse_rent("$1,500+")) is not None
    assert more.open_ended


@pytest.mark.parametrize(
    ("text", "beds", "baths", "size"),
    [
        ("Studio - 2 Beds", Span(0, 2), None, None),
        ("1 Bed, 1 Bath, 650 Sq Ft", Span(1, 1), Span(1, 1), Span(650, 650)),
        ("2BR/1.5BA", Span(2, 2), Span(1.5, 1.5), None),
        ("3 Bedrooms, 2½ Baths", Span(3, 3), Span(2.5, 2.5), None),
        ("2 beds / 1 1/2 baths", Span(2, 2), Span(1.5, 1.5), None),
        ("4br - 1200ft2", Span(4, 4), None, Span(1200, 1200)),
        ("700 - 950 Sq. Ft.", None, None, Span(700, 950)),
        ("65 m²", None, None, Span(700, 700)),
        ("bed and breakfast", None, None, None),
    ],
)
def test_rooms_and_size_are_read_from_one_line(text: str, beds: Span | None, baths: Span | None, size: Span | None):
    assert parse_beds(text) == beds
    assert parse_baths(text) == baths
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["Beds: 2 Baths: 1.5", "Baths: 1.5 | Beds: 2", "2 beds 1.5 baths", "Bedrooms 2, bathrooms 1.5"]
)
def test_a_number_may_stand_before_or_behind_what_it_counts(text: str):
    assert (parse_beds(text), parse_baths(text)) == (Span(2.0, 2.0), Span(1.5, 1.5))
