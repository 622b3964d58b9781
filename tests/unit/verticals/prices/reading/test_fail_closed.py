"""A price counts only from the product's own block, and what cannot be read there is a reason, never another number."""

from decimal import Decimal

import pytest

from tidemill.reading import Availability
from tidemill.verticals.prices.reading import NoOffer, Product, read_product
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason

TITLE = "Federal 9mm 115gr FMJ 50rd"
BUTTON = '<button class="single_add_to_cart_button">Add to cart</button>'
URL = "https://ammo.example/product/federal-9mm"
RANGE = """<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product",
"name":"Federal 9mm 115gr FMJ 50rd","offers":{"@type":"AggregateOffer","lowPrice":"15.99","highPrice":"299.99",
"priceCurrency":"USD"}}</script>"""


def offer(name: str, stock: str = "InStock") -> str:
    return (
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"'
        f'{name}","offers":{{"@type":"Offer","price":"24.99","priceCurrency":"USD","availability":"{stock}"}}}}</script>'
    )


def page(price: str, *, stock: str = "", button: str = BUTTON, title: str = TITLE, data: str = "") -> str:
    heading = f"<h1>{title}</h1>" if title else ""
    return f"""<html><head><title>{title or "Shop"} | Ammo Shop</title>{data}</head><body>
<div class="banner">Flat $9.95 shipping on all orders</div><header><a href="/">Ammo Shop</a></header>
<main><div class="product"><div class="summary">{heading}<p class="price">{price}</p>{stock}
<form class="cart">{button}</form></div></div>
<section class="related"><h2>Related products</h2><ul>
<li><a href="/p/2">Other 9mm</a><del>$39.99</del> <span class="price">$29.99</span></li></ul></section></main>
<footer>Orders over $99 ship free</footer></body></html>"""


@pytest.mark.shows("C2b")
@pytest.mark.parametrize(
    ("price", "reason"),
    [
        ("$0.00", QuarantineReason.ZERO_PRICE_EXTRACTED),
        ("Free", QuarantineReason.ZERO_PRICE_EXTRACTED),
        ("", ExtractReason.PRICE_NOT_FOUND),
        ("Call for price", ExtractReason.PRICE_NOT_FOUND),
        ("-$12.00", ExtractReason.PRICE_NOT_FOUND),
        ("$0.38 per round", ExtractReason.PRICE_NOT_FOUND),
        ("$4x.9q", ExtractReason.PRICE_NOT_FOUND),
        ("$4O.99", ExtractReason.PRICE_NOT_FOUND),
        ("$1e3", ExtractReason.PRICE_NOT_FOUND),
        ("$19.999", ExtractReason.PRICE_NOT_FOUND),
        ("N/A (was 24.99)", ExtractReason.PRICE_NOT_FOUND),
    ],
)
def test_what_is_no_price_gives_its_reason_and_not_the_banners_shipping(price: str, reason: object) -> None:
    answer = read_product(page(price), URL)
    assert isinstance(answer, NoOffer)
    assert answer.reason is reason


@pytest.mark.parametrize("data", ["", RANGE])
def test_a_range_is_never_published_as_its_low_end(data: str) -> None:
    answer = read_product(page("$15.99 \u2013 $299.99", data=data), URL)
    assert isinstance(answer, Product)
    assert answer.doubt is QuarantineReason.AMBIGUOUS_PRICE


def test_a_page_that_says_out_of_stock_outweighs_its_data() -> None:
    gone = '<p class="stock out-of-stock">Out of stock</p>'
    answer = read_product(page("$24.99", stock=gone, button="", data=offer(TITLE)), URL)
    assert isinstance(answer, Product)
    assert answer.availability is Availability.OUT_OF_STOCK


def test_a_notice_against_both_data_and_a_selling_button_leaves_the_stock_open() -> None:
    gone = '<p class="stock">Out of stock</p>'
    answer = read_product(page("$24.99", stock=gone, data=offer(TITLE)), URL)
    assert isinstance(answer, Product)
    assert answer.availability is Availability.UNKNOWN


def test_data_of_another_product_gives_no_title() -> None:
    answer = read_product(page("$24.99", data=offer("Winchester 12ga Slug 5rd")), URL)
    assert isinstance(answer, Product)
    assert answer.title == TITLE


def test_shop_is_no_title() -> None:
    answer = read_product(page("$24.99", title=""), URL)
    assert isinstance(answer, NoOffer)
    assert answer.reason is ExtractReason.TITLE_NOT_FOUND


def test_a_related_products_former_price_is_nobodys_list_price() -> None:
    answer = read_product(page("$24.99"), URL)
    assert isinstance(answer, Product)
    assert (answer.price, answer.list_price) == (Decimal("24.99"), None)


@pytest.mark.parametrize("price", ["$24.99", ""])
def test_temporarily_unavailable_is_out_of_stock(price: str) -> None:
    answer = read_product(page(price, stock="<p>Temporarily unavailable. Notify me</p>", button=""), URL)
    product = answer.product if isinstance(answer, NoOffer) else answer
    assert product.availability is Availability.OUT_OF_STOCK
    assert price or (isinstance(answer, NoOffer) and answer.reason is ExtractReason.OOS_NO_PRICE)


def test_the_current_bid_counts_and_not_the_start() -> None:
    bids = "<span>Starting bid $10.00</span> <span>Current bid $42.00</span>"
    assert read_product(page(bids, button="<button>Place bid</button>"), URL).price == Decimal("42.00")


def test_what_a_month_costs_is_not_the_price() -> None:
    assert read_product(page("978,00 €</p><p>12 kuud: 81,50 €"), URL).price == Decimal("978.00")


@pytest.mark.parametrize(
    ("url", "markup", "sku"),
    [
        ("https://shop.example/red-kettle-112949990", 'data-id="112949990"', "112949990"),
        ("https://shop.example/deal/4548094738", "<b>4548094738</b>", "4548094738"),
        ("https://shop.example/shirt?childSku=545642356", "var id = '545642356';", "545642356"),
        ("https://shop.example/kettle-112949990", "", ""),
    ],
)
def test_the_articles_number_is_in_the_address_if_the_page_repeats_it(url: str, markup: str, sku: str) -> None:
    answer = read_product(page("$24.99").replace("</main>", f"<i {markup}>{markup}</i></main>"), url)
    assert isinstance(answer, Product)
    assert answer.sku == sku


VARIANTS = """<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Kettle",
"offers":[{"@type":"Offer","price":"10.00","priceCurrency":"USD","sku":"A1","url":"/p/kettle?variant=111"},
{"@type":"Offer","price":"20.00","priceCurrency":"USD","sku":"B2","url":"/p/kettle?variant=222"}]}</script>"""


@pytest.mark.parametrize(("variant", "price"), [("?variant=111", "10.00"), ("?variant=222&utm=x", "20.00")])
def test_the_variant_is_the_one_that_the_address_selects(variant: str, price: str) -> None:
    markup = f"<html><head>{VARIANTS}</head><body><h1>Kettle</h1><button>Add to cart</button></body></html>"
    answer = read_product(markup, f"https://s.example/p/kettle{variant}")
    assert isinstance(answer, Product)
    assert (answer.price, answer.doubt) == (Decimal(price), None)
    undecided = read_product(markup, "https://s.example/p/kettle")
    assert isinstance(undecided, Product)
    assert undecided.doubt is QuarantineReason.AMBIGUOUS_PRICE


def test_tiers_are_read_across_a_table_and_one_costs_what_the_first_says() -> None:
    table = """<table><tr><th>Quantity</th><th>1-4</th><th>5-9</th><th>10+</th></tr>
    <tr><td>Price</td><td>$24.99</td><td>$22.99</td><td>$20.99</td></tr></table>"""
    answer = read_product(page("$24.99", stock=table), URL)
    assert isinstance(answer, Product)
    assert [(tier.quantity, str(tier.price)) for tier in answer.tiers] == [(1, "24.99"), (5, "22.99"), (10, "20.99")]
    assert answer.price == Decimal("24.99")
