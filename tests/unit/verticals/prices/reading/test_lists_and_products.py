"""Telling a product from a list of products, and the product from its neighbours."""

import json
from decimal import Decimal

import pytest

from tidemill.core.record import Strategy
from tidemill.reading import Availability
from tidemill.verticals.prices.reading import (
    NoOffer,
    Product,
    ProductReading,
    QuantityTier,
    read_product,
    read_products,
)
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason

URL = "https://shop.example/c/ammo"


def data(*products: dict[str, object]) -> str:
    blocks = "".join(f'<script type="application/ld+json">{json.dumps(each)}</script>' for each in products)
    return f"<head>{blocks}</head>"


def thing(name: str, price: object, **more: object) -> dict[str, object]:
    return {"@type": "Product", "name": name, "offers": {"price": price, "priceCurrency": "USD"}, **more}


def reason(answer: ProductReading) -> object:
    assert isinstance(answer, NoOffer), answer
    return answer.reason


def sold(answer: ProductReading) -> Product:
    assert isinstance(answer, Product), answer
    return answer


@pytest.mark.shows("B13")
def test_a_list_whose_data_names_every_product_is_no_product_page() -> None:
    things = [thing(f"Ammo of kind {number}", number + 1) for number in range(5)]
    assert reason(read_product(f"{data(*things)}<h1>Ammo</h1>", URL)) is ExtractReason.PAGE_STRUCTURE_CHANGED


@pytest.mark.shows("C2b")
def test_a_product_is_told_from_neighbours_in_the_same_data() -> None:
    things = [thing("Other", 1), thing("Another", 2), thing("Ammo Deluxe", 30), thing("A third", 3)]
    assert sold(read_product(f"{data(*things)}<h1>Ammo Deluxe</h1>", URL)).price == 30


def test_a_product_is_known_by_its_address_too() -> None:
    things = [thing("Other", 1), thing("Another", 2), thing("Deluxe", 30, url="/c/ammo"), thing("A third", 3)]
    assert sold(read_product(f"{data(*things)}<h1>Ammo for all</h1>", URL)).title == "Deluxe"


def test_a_list_of_cards_is_read_card_by_card() -> None:
    cards = "".join(
        f'<div class="tile"><a href="/p/{n}"><img src="/{n}.jpg"><h3>Thing {n}</h3></a>'
        f'<del class="old-price">${n + 5}.00</del> <b class="price">${n}.00</b>'
        '<span class="stock">In stock</span></div>'
        for n in range(2, 6)
    )
    products = read_products(f"<h1>Things</h1><div>{cards}</div>", URL)
    assert [product.title for product in products] == ["Thing 2", "Thing 3", "Thing 4", "Thing 5"]
    assert [(product.price, product.list_price) for product in products[:2]] == [(2, 7), (3, 8)]
    assert products[0].url == "https://shop.example/p/2"
    assert products[0].availability is Availability.IN_STOCK


def test_of_variants_that_cost_alike_the_price_is_sure() -> None:
    offers = [{"price": "5", "priceCurrency": "USD", "sku": sku} for sku in "ab"]
    product = sold(read_product(f"{data(thing('Tee', 0) | {'offers': offers})}<h1>Tee</h1>", URL))
    assert (product.price, product.doubt, len(product.variants)) == (5, None, 2)


@pytest.mark.shows("C2")
def test_of_variants_that_differ_the_price_is_in_doubt_until_the_page_shows_one() -> None:
    offers = [{"price": price, "priceCurrency": "USD"} for price in ("5", "9")]
    markup = f"{data(thing('Tee', 0) | {'offers': offers})}<h1>Tee</h1>"
    doubtful = sold(read_product(markup, URL))
    assert (doubtful.price, doubtful.high_price, doubtful.doubt) == (5, 9, QuarantineReason.AMBIGUOUS_PRICE)
    shown = sold(read_product(f"{markup}<div class='product-price'>$5.00</div><button>Add to cart</button>", URL))
    assert shown.doubt is None


@pytest.mark.shows("C2")
def test_with_tiers_the_price_is_that_of_one() -> None:
    rows = "".join(f"<tr><td>{span}</td><td>${price}.00</td></tr>" for span, price in (("1-4", 25), ("5+", 23)))
    markup = f"<h1>Ammo</h1><p class='price'>$23.00</p><table>{rows}</table><button>Add to cart</button>"
    product = sold(read_product(markup, URL))
    assert product.price == 25
    assert product.tiers == (QuantityTier(1, Decimal("25.00")), QuantityTier(5, Decimal("23.00")))


def test_tables_tell_identifiers_and_brand() -> None:
    table = "<table><tr><th>EAN</th><td>4015600608835</td></tr><tr><th>Brand</th><td>Acme</td></tr></table>"
    product = sold(read_product(f"<h1>X</h1><b class='price'>$5.00</b><button>Buy now</button>{table}", URL))
    assert (product.gtin, product.brand) == ("4015600608835", "Acme")


def test_a_price_that_only_the_page_shows_says_so() -> None:
    product = sold(read_product("<h1>X</h1><b class='price'>$5.00</b><button>Buy now</button>", URL))
    assert product.strategy is Strategy.HEURISTICS
    assert product.places["price"].startswith("shown")
    assert product.confidence < 0.85


def test_data_that_the_page_confirms_is_surer_than_data_alone() -> None:
    markup = f"{data(thing('Mug', '12.50'))}<h1>Mug</h1>"
    alone = sold(read_product(markup, URL))
    confirmed = sold(read_product(f"{markup}<b class='price'>$12.50</b>", URL))
    assert confirmed.confidence > alone.confidence


@pytest.mark.parametrize("words", ["Tickets: $12.00 at the door", "Parking is $5.00", "Fees of $20.00 apply"])
def test_a_page_that_sells_nothing_has_no_price_whatever_it_mentions(words: str) -> None:
    assert reason(read_product(f"<h1>Council meeting</h1><p>{words}</p>", URL)) is ExtractReason.PAGE_STRUCTURE_CHANGED


def test_a_long_page_is_read_behind_its_scripts() -> None:
    filler = f"<script>{'x = 1; ' * 90_000}</script>"
    markup = f"<html><body>{filler}<h1>X</h1><b class='price'>$5.00</b><button>Buy now</button></body></html>"
    assert sold(read_product(markup, URL)).price == 5
