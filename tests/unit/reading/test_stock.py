"""Stock notices in many languages."""

import pytest

from tidemill.reading import Availability, as_gtin, availability_in
from tidemill.reading.identifiers import as_upc

pytestmark = pytest.mark.shows("C1")


@pytest.mark.parametrize(
    "text",
    ["https://schema.org/InStock", "http://schema.org/LimitedAvailability", "in_stock", "In stock", "12 in stock",
     "Only 3 left", "Op voorraad", "Auf Lager", "En stock", "Skladem", "I lager", "В наличии", "在庫あり", "IN_STOCK"],
)  # fmt: skip
def test_it_is_there(text: str) -> None:
    assert availability_in(text) is Availability.IN_STOCK


@pytest.mark.parametrize(
    "text",
    ["https://schema.org/OutOfStock", "SoldOut", "Discontinued", "Not in stock", "Currently unavailable", "Uitverkocht",
     "Niet op voorraad", "Nicht auf Lager", "Rupture de stock", "Není skladem", "Нет в наличии", "品切れ",
     "Notify me when available", "0 in stock"],
)  # fmt: skip
def test_it_is_gone(text: str) -> None:
    assert availability_in(text) is Availability.OUT_OF_STOCK


@pytest.mark.parametrize(
    "text", ["https://schema.org/PreOrder", "BackOrder", "Available on backorder", "Pre-order now"]
)
def test_it_comes_later(text: str) -> None:
    assert availability_in(text) is Availability.BACKORDER


@pytest.mark.parametrize("text", ["", "Free shipping", "Check your store", "Delivery: 2-3 days", "$5"])
def test_silence_is_unknown(text: str) -> None:
    assert availability_in(text) is Availability.UNKNOWN


def test_a_book_number_becomes_the_thirteen_digits_that_it_is_sold_under() -> None:
    assert as_gtin("0-545-01022-5") == "9780545010221"


def test_a_wrong_check_digit_is_no_identifier() -> None:
    assert as_gtin("042100005265") is None
    assert as_gtin("000000000000") is None


def test_a_upc_has_one_spelling() -> None:
    assert as_upc("0042100005264") == as_upc("042100005264") == "042100005264"
    assert as_upc("4015600608835") == "4015600608835"
