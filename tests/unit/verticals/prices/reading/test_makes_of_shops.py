"""Pages of shops of many makes: tiers, identifiers, former prices, and titles that are none."""

from decimal import Decimal

import pytest

from tidemill.verticals.prices.reading import NoOffer, Product, read_product
from tidemill.verticals.prices.reasons import ExtractReason

URL = "https://shop.example/p/brass-9mm"
BUY = '<form class="cart"><button type="submit">Add to cart</button></form>'


def page(body: str, title: str = "Brass 9mm 115gr, 50 rounds") -> str:
    return (
        f'<html lang="en"><head><title>{title} | Depot</title></head><body><header>$9.95 flat shipping</header>'
        f'<main><div class="product"><h1>{title}</h1>{body}</div></main></body></html>'
    )


def offered(body: str) -> Product:
    answer = read_product(page(body), URL)
    assert isinstance(answer, Product), answer
    return answer


TIERS = {
    "magento": '<ul class="prices-tier items"><li>Buy 5 for $15.49 each and save 3%</li>'
    "<li>Buy 10 for $14.99 each and save 6%</li></ul>",
    "bigcommerce": "<ul><li>Buy 5 - 9 and pay only $15.49 each</li>"
    "<li>Buy 10 or above and pay only $14.99 each</li></ul>",
    "woocommerce": "<table><tr><th>Quantity</th><th>Price</th></tr><tr><td>1-4</td><td>$15.99</td></tr>"
    "<tr><td>5-9</td><td>$15.49</td></tr><tr><td>10+</td><td>$14.99</td></tr></table>",
    "across": "<table><tr><th>Qty</th><td>1</td><td>5</td><td>10</td></tr>"
    "<tr><th>Price</th><td>$15.99</td><td>$15.49</td><td>$14.99</td></tr></table>",
    "boxes": '<div class="bulk-pricing"><div>5+ boxes for $15.49 each</div><div>10+ boxes for $14.99 each</div></div>',
    "dutch": "<ul><li>Vanaf 5 stuks voor $15.49 per stuk</li><li>Vanaf 10 stuks voor $14.99 per stuk</li></ul>",
}


@pytest.mark.parametrize("make", TIERS)
def test_tiers_are_told_from_one_upward(make: str) -> None:
    product = offered(f'<p class="price">$15.99</p>{TIERS[make]}{BUY}')
    assert product.price == Decimal("15.99")
    assert [(tier.quantity, str(tier.price)) for tier in product.tiers] == [(1, "15.99"), (5, "15.49"), (10, "14.99")]


CODES = {
    "label": "<div>UPC: 029465064563</div>",
    "sentence": "<p>Clean and reliable. Mfg part no. AE9DP, UPC 029465064563.</p>",
    "table": "<table><tr><th>UPC Code</th><td>0-29465-06456-3</td></tr></table>",
    "list": "<dl><dt>SKU:</dt><dd>AE9DP</dd><dt>UPC:</dt><dd>029465064563</dd></dl>",
    "script": '<script>var BCData = {"product_attributes":{"upc":"029465064563","mpn":null}};</script>',
}


@pytest.mark.parametrize("make", CODES)
def test_a_upc_is_read_wherever_it_stands(make: str) -> None:
    assert offered(f'<p class="price">$15.99</p>{CODES[make]}{BUY}').gtin == "029465064563"


@pytest.mark.parametrize("make", CODES)
def test_a_upc_whose_check_digit_is_wrong_is_none(make: str) -> None:
    wrong = CODES[make].replace("064563", "064560").replace("06456-3", "06456-0")
    assert offered(f'<p class="price">$15.99</p>{wrong}{BUY}').gtin == ""


def test_several_upcs_in_the_text_are_nobodys() -> None:
    assert offered(f'<p class="price">$15.99</p><p>UPC 029465064563, UPC 036000291452</p>{BUY}').gtin == ""


def test_a_price_in_the_box_for_old_ones_is_asked_where_there_is_no_other() -> None:
    product = offered(f'<div class="price"><span class="price-old-live">$40.00</span></div>{BUY}')
    assert (product.price, product.list_price) == (Decimal(40), None)


@pytest.mark.parametrize(
    "former",
    ['<p class="price"><del>$40.00</del></p>', '<p class="price">was <span class="price-old">$40.00</span></p>'],
)
def test_a_price_that_is_struck_out_or_called_former_is_never_asked(former: str) -> None:
    assert isinstance(read_product(page(former + BUY), URL), NoOffer)


def test_a_shops_own_name_for_its_pages_is_no_title() -> None:
    answer = read_product(page(f'<p class="price">$15.99</p>{BUY}', title="Shop"), URL)
    assert isinstance(answer, NoOffer)
    assert answer.reason is ExtractReason.TITLE_NOT_FOUND


def test_an_auction_asks_its_current_bid() -> None:
    product = offered("<div>Starting bid: $1.00</div><div>Current bid: $42.00</div><button>Place bid</button>")
    assert product.price == Decimal(42)


def test_a_brand_is_read_from_the_link_to_its_page() -> None:
    assert offered(f'<a href="/brands/acme">Acme Arms</a><p class="price">$15.99</p>{BUY}').brand == "Acme Arms"
