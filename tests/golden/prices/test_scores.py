"""How well prices and identifiers are read that nobody here wrote; run with -s to see the scores."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tidemill.reading import Availability, parse_money, scheme_of
from tidemill.verticals.prices.reading import NoOffer, read_product, read_products
from tidemill.verticals.prices.reasons import ExtractReason

FIXTURES = Path(__file__).parents[4] / "shared" / "fixtures"
SOLD_HERE = {"schema.org__CreativeWork.001", "schema.org__product-ref", "schema.org__product",
             "websites__microdata-with-description"}  # fmt: skip

pytestmark = pytest.mark.skipif(not FIXTURES.exists(), reason="the shared fixtures are not beside the project")


def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FIXTURES / "prices" / name).read_text())
    return found


def is_read(case: dict[str, Any]) -> bool:
    given, expected = case["input"], case["expected"]
    money = parse_money(
        given["price"],
        given["currency_hint"] or "",
        decimal_separator=given["decimal_separator"],
        digit_group_separator=given["digit_group_separator"],
    )
    if money is None or expected["amount"] is None:
        return money is None and expected["amount"] is None
    return money.amount == Decimal(expected["amount"]) and (money.symbol or None) == expected["currency"]


def test_price_strings() -> None:
    """Amount and currency of 98 % of the strings."""
    read = [is_read(case) for case in cases("price_strings.json")]
    print(f"price strings: {sum(read)} of {len(read)}")  # noqa: T201 - the score is what this is run for
    assert sum(read) >= 0.98 * len(read)


def test_identifiers() -> None:
    wrong = [case["id"] for case in cases("gtin.json") if scheme_of(case["input"]) != case["expected"]]
    print(f"identifiers: {len(wrong)} wrong")  # noqa: T201
    assert not wrong


def test_restock_snippets() -> None:
    wrong = []
    for case in cases("snippets.json"):
        product = read_product(case["input"]["html"], case["input"]["url"])
        assert not isinstance(product, NoOffer)
        stock = [product.availability.replace("_", "").lower()]
        wanted = [word.lower() for word in case["expected"].get("availability", [])]
        if product.price != Decimal(case["expected"]["price"][0]) or (wanted and stock != wanted):
            wrong.append(case["id"])
    assert not wrong


@pytest.mark.parametrize("name", ["grabagun_list", "grabagun_oos_list"])
def test_list_pages(name: str) -> None:
    expected = json.loads((FIXTURES / "prices" / f"{name}.expected.json").read_text())
    markup = (FIXTURES / "prices" / f"{name}.html").read_text()
    products = read_products(markup, "http://grabagun.com/")
    assert len(products) == expected["count"]
    for row, said in expected["rows"].items():
        product = products[int(row)]
        assert product.price == Decimal(str(said["price"]))
        assert said.get("headline", product.title) == product.title
        assert said.get("url", product.url) == product.url
        gone = product.availability is Availability.OUT_OF_STOCK
        assert said.get("oos", gone) == gone


@pytest.mark.parametrize("name", ["grabagun_list", "grabagun_oos_list"])
def test_a_list_page_is_no_product_page(name: str) -> None:
    answer = read_product((FIXTURES / "prices" / f"{name}.html").read_text(), "http://grabagun.com/")
    assert isinstance(answer, NoOffer)
    assert answer.reason is ExtractReason.PAGE_STRUCTURE_CHANGED


def test_pages_that_sell_nothing_have_no_price() -> None:
    """Agendas and snippets of other things: tickets and fees on them are no products."""
    pages = [*(FIXTURES / "events").glob("*/*.html"), *(FIXTURES / "structured").glob("*.html")]
    priced = {path.stem for path in pages if read_product(path.read_text(errors="replace")).price is not None}
    assert priced <= SOLD_HERE
