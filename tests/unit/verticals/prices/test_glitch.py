"""The glitch guard, and currencies' smallest units."""

from decimal import Decimal

import pytest

from tidemill.reading.currency_codes import in_cents, in_units
from tidemill.verticals.prices.glitch import Glitch, PriceSeen, confirms, glitch

BEFORE = PriceSeen(1999, "USD")


@pytest.mark.shows("X9")
@pytest.mark.parametrize("cents", [199_900, 19])
def test_a_jump_by_a_hundred_times_is_held(cents: int) -> None:
    assert glitch(PriceSeen(cents, "USD"), BEFORE) is Glitch.JUMPED


@pytest.mark.shows("X9")
def test_a_swapped_currency_is_held() -> None:
    assert glitch(PriceSeen(1999, "EUR"), BEFORE) is Glitch.CURRENCY_SWAPPED


@pytest.mark.shows("X9")
def test_what_most_neighbours_were_read_at_is_held() -> None:
    same = [PriceSeen(500, "USD")] * 3
    assert glitch(PriceSeen(500, "USD"), BEFORE, [*same, PriceSeen(700, "USD")]) is Glitch.SAME_AS_NEIGHBOUR
    assert glitch(PriceSeen(500, "USD"), BEFORE, same[:2]) is None


@pytest.mark.shows("X9")
@pytest.mark.parametrize("new", [BEFORE, PriceSeen(1500, "USD"), PriceSeen(100_000, "USD")])
def test_an_ordinary_change_is_published_at_once(new: PriceSeen) -> None:
    assert glitch(new, BEFORE) is None


@pytest.mark.shows("X9")
def test_a_first_price_has_nothing_to_be_compared_with() -> None:
    assert glitch(PriceSeen(199_900, "USD"), None) is None


@pytest.mark.shows("X9")
def test_a_second_reading_confirms_only_the_same_price() -> None:
    assert confirms(PriceSeen(199_900, "USD"), PriceSeen(199_900, "USD"))
    assert not confirms(BEFORE, PriceSeen(199_900, "USD"))


@pytest.mark.parametrize(
    ("amount", "currency", "cents"),
    [("19.99", "USD", 1999), ("1980", "JPY", 1980), ("1.234", "KWD", 1234), ("0.005", "EUR", 1), ("45.5", "GBP", 4550)],
)
def test_cents_are_the_currencys_smallest_unit(amount: str, currency: str, cents: int) -> None:
    assert in_cents(Decimal(amount), currency) == cents


def test_cents_are_told_as_people_write_them() -> None:
    assert in_units(1999, "USD") == Decimal("19.99")
    assert in_units(1999, "JPY") == Decimal(1999)
