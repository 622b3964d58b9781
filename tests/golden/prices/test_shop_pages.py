"""Product pages in the manner of many shops, platforms and countries, each with its difficulty in its name."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tidemill.verticals.prices.reading import Product, read_product

pytestmark = pytest.mark.shows("C2")

HERE = Path(__file__).parent
EXPECTED: dict[str, dict[str, Any]] = json.loads((HERE / "expected.json").read_text())
FIELDS = ("title", "sku", "gtin", "mpn", "brand")


def read(name: str) -> Product:
    reading = read_product((HERE / "pages" / f"{name}.html").read_bytes(), EXPECTED[name]["url"])
    assert isinstance(reading, Product), reading
    return reading


@pytest.mark.parametrize("name", EXPECTED)
def test_a_shops_page_is_read_with_its_selling_price(name: str) -> None:
    product, expected = read(name), EXPECTED[name]
    assert (product.price, product.currency) == (Decimal(expected["price"]), expected["currency"])


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if "list_price" in expected])
def test_a_crossed_out_price_is_the_list_price(name: str) -> None:
    assert read(name).list_price == Decimal(EXPECTED[name]["list_price"])


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if "list_price" not in expected])
def test_no_list_price_is_made_up(name: str) -> None:
    assert read(name).list_price is None


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if "availability" in expected])
def test_stock_is_what_the_page_says(name: str) -> None:
    assert read(name).availability == EXPECTED[name]["availability"]


@pytest.mark.parametrize(
    ("name", "field"),
    [(name, field) for name, expected in EXPECTED.items() for field in FIELDS if field in expected],
)
def test_the_product_is_named_and_numbered_as_on_its_page(name: str, field: str) -> None:
    product = read(name)
    assert getattr(product, field) == EXPECTED[name][field]
    assert product.places[field]


@pytest.mark.shows("X11")
@pytest.mark.parametrize("name", EXPECTED)
def test_every_price_keeps_where_it_was_read(name: str) -> None:
    product = read(name)
    assert product.places["price"]
    assert 0 < product.confidence <= 1


def test_every_saved_page_is_expected() -> None:
    assert {path.stem for path in (HERE / "pages").glob("*.html")} == set(EXPECTED)
