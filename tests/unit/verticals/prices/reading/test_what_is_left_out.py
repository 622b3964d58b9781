"""A product's page is walked without what is aside: menus, other products, reviews; what that must not change."""

from decimal import Decimal

import pytest

from tidemill.reading import Document
from tidemill.verticals.prices.reading import Product, read_product, read_products
from tidemill.verticals.prices.reading.shown.page_layout import layout_of

pytestmark = pytest.mark.shows("C2b")

URL = "https://www.shop.com/p/1"
TILES = "".join(
    f"<li class=tile><a href=/p/{n}><img src=/{n}.jpg>Cup {n}</a> <b class=price>€ {n}9,00</b></li>"
    for n in range(1, 9)
)
RELATED = f"<ul class=related-products>{TILES}</ul>"


def page(body: str) -> Document:
    return Document(f"<title>Mug | Shop</title><body>{body}</body>", URL)


def test_one_empty_text_stands_for_each_part_that_is_left_out() -> None:
    document = page(f"<h1>Mug</h1><p>€ 12,00</p>{RELATED}<p>Words</p>")
    assert [each.text for each in layout_of(document, whole=False).texts] == ["Mug", "€ 12,00", "", "Words"]
    assert len(layout_of(document).texts) == 19


def test_words_before_a_part_that_is_left_out_are_not_about_the_price_behind_it() -> None:
    reading = read_product(page(f"<h1>Mug</h1><p>Was</p>{RELATED}<p class=price>€ 12,00</p><button>Buy now</button>"))
    assert isinstance(reading, Product)
    assert reading.price == Decimal(12)


def test_a_heading_within_what_is_aside_is_walked() -> None:
    body = "<div class=carousel><div><h1>Mug</h1><p class=price>€ 12,00</p></div></div><button>Buy now</button>"
    reading = read_product(page(body))
    assert isinstance(reading, Product)
    assert reading.price == Decimal(12)


def test_a_price_without_a_sign_takes_its_currency_from_other_products() -> None:
    reading = read_product(page(f"<h1>Mug</h1><p class=price>12,00</p><button>Buy now</button>{RELATED}"))
    assert isinstance(reading, Product)
    assert (reading.price, reading.currency) == (Decimal(12), "EUR")


def test_a_list_of_products_is_walked_whole() -> None:
    assert len(read_products(page(f"<h1>Cups</h1>{RELATED}"))) == 8


def test_numbers_in_attributes_are_the_products_own_though_others_have_theirs() -> None:
    tiles = RELATED.replace("<li class=tile>", "<li class=tile data-sku=X-9>")
    body = f"<div data-sku=M-1><h1>Mug</h1><p class=price>€ 12,00</p><button>Buy now</button></div>{tiles}"
    reading = read_product(page(body))
    assert isinstance(reading, Product)
    assert reading.sku == "M-1"
