"""Pages as the templates of many shops write them: the price of today, the stock, the numbers, or why there is none."""

import json
from decimal import Decimal

import pytest

from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reading import NoOffer, Product, ProductReading, read_product
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason

URL = "https://shop.example/p/qarzo-300"
BUY = "<button>Add to cart</button>"


def read(body: str, *, head: str = "", url: str = URL, title: str = "Qarzo 300") -> ProductReading:
    return read_product(
        f"<html lang='en'><head><title>{title} - Example</title>{head}</head><body>"
        f"<div class='bar'>$9.95 flat rate shipping</div>{body}</body></html>",
        url,
    )


def product(body: str, **further: str) -> Product:
    reading = read(f"<main><h1>Qarzo 300</h1>{body}</main>", **further)
    assert isinstance(reading, Product), reading
    return reading


@pytest.mark.shows("C2")
@pytest.mark.parametrize(
    ("body", "price", "list_price"),
    [
        ("<p class='price'>21<sup>€90</sup></p><p class='price adherent'>Prix adhérent 20,81 €</p>", "21.90", ""),
        ("<div class='prix'><b>1 299</b><b>€</b><b>90</b></div>", "1299.90", ""),
        ("<div class='prices'><i class='vecchio'>79,00 €</i><i class='nuovo'>59,00 €</i></div>", "59", "79"),
        ("<div class='price'>$15.99 <i class='price-prev'>$18.49</i></div>", "15.99", "18.49"),
        ("<p>₹1,24,990</p><p>₹1,49,990</p><p>16% off</p><p>Bank Offer: ₹1,250 instant off</p>", "124990", "149990"),
        ("<b class='amt'>$184.99</b><p><i>12x</i> <b class='amt'><i>$</i><i>22.89</i></b></p>", "184.99", ""),
        ("<p>$39.99</p><p>Price after coupon: $31.99 with code SAVE8</p>", "39.99", ""),
        ("<p class='preis'>129,00 €</p><p>Mit Kundenkarte nur 119,00 €</p>", "129", ""),
        ("<i class='price'>$23.06/mo. for 36 mo.</i> <i class='price'>Retail price: $829.99</i>", "829.99", ""),
    ],
    ids=["members", "cents", "italian", "former within", "bank offer", "instalments", "coupon", "card", "monthly"],
)  # fmt: skip
def test_what_one_pays_today_is_told_from_the_amounts_beside_it(body: str, price: str, list_price: str) -> None:
    found = product(f"{body}{BUY}")
    assert found.price == Decimal(price)
    assert found.list_price == (Decimal(list_price) if list_price else None)
    assert found.doubt is None


@pytest.mark.shows("C2b")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<div class='price'>Free</div><p>Kit with yarn: $35.00</p>", QuarantineReason.ZERO_PRICE_EXTRACTED),
        ("<div class='price'></div><p>Gift wrap <b>$4.50</b></p>", ExtractReason.PRICE_NOT_FOUND),
        ("<p>Call for price</p><p>Crate <b>$45.00</b></p>", ExtractReason.PRICE_NOT_FOUND),
        ("<p><s>$899.99</s> Add to cart for price</p><p class='price'>$12.00</p>", ExtractReason.PRICE_NOT_FOUND),
        ("<p>See price in cart</p><p>MSRP $499.00</p>", ExtractReason.PRICE_NOT_FOUND),
        ("<p>Preis auf Anfrage</p><p>Zubehör <b>49,00 €</b></p>", ExtractReason.PRICE_NOT_FOUND),
    ],
)
def test_a_price_that_is_withheld_is_never_another_amount_of_the_page(body: str, reason: object) -> None:
    reading = read(f"<main><h1>Qarzo 300</h1>{body}{BUY}</main>")
    assert isinstance(reading, NoOffer)
    assert reading.reason is reason


@pytest.mark.shows("C2b")
def test_a_page_that_is_sold_out_and_shows_no_price_says_so() -> None:
    reading = read("<main><h1>Harbor Dawn</h1><p>This edition has sold out.</p></main>", title="Harbor Dawn")
    assert isinstance(reading, NoOffer)
    assert reading.reason is ExtractReason.OOS_NO_PRICE


@pytest.mark.parametrize(
    ("words", "state"),
    [
        (words, state)
        for state, line in {
            Availability.OUT_OF_STOCK: (
                "Produit en rupture|Nincs készleten|Изчерпан|Товар закончился|Tilapäisesti loppu|Ni na zalogi|"
                "Rasprodano|"
                "Išparduota|Nav pieejams|Läbi müüdud|"
                "入荷待ち|일시품절|已售罄|نفدت الكمية|אזל מהמלאי|Hết hàng|Stok habis|สินค้าหมด|"
                "Momentálne nedostupné|Momentálne nie je možné kúpiť|Dieser Artikel ist nicht mehr bestellbar"
            ),
            Availability.IN_STOCK: (
                "В наличност|Διαθέσιμο|Ir noliktavā|Laos olemas|Na zalogi|متوفر|Còn hàng|Stok: 15|Noch 3 auf Lager"  # noqa: RUF001
            ),
            Availability.BACKORDER: (
                "Op nabestelling|Przedsprzedaż|Předobjednávka|Bajo pedido|Su ordinazione|Sob encomenda|Bestillingsvare|"
                "Beställningsvara, leverans 6-8 veckor|Ennakkotilaus|Под заказ"
            ),
        }.items()
        for words in line.split("|")
    ],
)
def test_a_line_of_stock_is_read_in_the_shops_language(words: str, state: Availability) -> None:
    assert product(f"<div class='price'>25,00 €</div><p>{words}</p>").availability is state


def test_a_question_about_stock_tells_nothing() -> None:
    body = f"<div class='price'>25,00 €</div><p class='stock'>Sold out in your size?</p>{BUY}"
    assert product(body).availability is Availability.IN_STOCK


def test_a_button_that_is_off_lets_a_notice_outweigh_the_data() -> None:
    offers = {"price": 25, "priceCurrency": "EUR", "availability": "InStock"}
    data = {"@type": "Product", "name": "Qarzo 300", "offers": offers}
    head = f"<script type='application/ld+json'>{json.dumps(data)}</script>"
    notice = "<p class='availability'>Momentálne nie je možné produkt kúpiť</p>"
    body = f"<div class='price'>25,00 €</div>{notice}<button disabled>Do košíka</button><p>x</p>{BUY}"
    assert product(body, head=head).availability is Availability.OUT_OF_STOCK


@pytest.mark.parametrize(
    ("label", "sku"),
    [
        ("Model", "WU750"), ("رمز المنتج", "5521"), ('מק"ט', "88123"),  # noqa: RUF001
        ("상품번호", "4548094"), ("货号", "DX1012"),
        ("Mã sản phẩm", "SP123"), ("Kode Produk", "KP99"), ("Κωδικός προϊόντος", "GR-77"), ("Termékkód", "HU12"),
        ("Katalogové číslo", "CK-9"), ("Nr kat.", "PL88"), ("Каталожен номер", "BG-12"), ("Stok kodu", "TR-55"),
        ("Item", "I-7789"), ("Part #", "PN-77"), ("ID produktu", "99812"),
    ],
)  # fmt: skip
def test_the_articles_number_is_known_by_its_label(label: str, sku: str) -> None:
    body = f"<div class='price'>25,00 €</div><p><i>{label}:</i> <i>{sku}</i></p>{BUY}"
    assert product(body).sku == sku


def test_parts_of_the_headings_own_block_are_the_products() -> None:
    block = "product-card-top"
    reading = read(
        f"<div class='{block}'><h1 class='{block}__title'>Qarzo 300</h1><div class='{block}__code'>SKU: 1045521</div>"
        f"<p class='price'>$25.00</p>{BUY}</div>"
    )
    assert isinstance(reading, Product)
    assert reading.sku == "1045521"


@pytest.mark.shows("C2")
@pytest.mark.parametrize(
    "rows",
    [
        (
            "<table><tr><th>Qty</th><th>Price</th><th>Per Round</th></tr><tr><td>1 - 9</td><td>$11.99</td>"
            "<td>$0.60</td></tr><tr><td>10 - 24</td><td>$11.49</td><td>$0.57</td></tr></table>"
        ),
        "<ul><li>1-9: $11.99 ($0.60/rd)</li><li>10+: $11.49 ($0.57/rd)</li></ul>",
    ],
    ids=["a column", "in brackets"],
)
def test_tiers_are_told_apart_from_what_a_round_costs(rows: str) -> None:
    found = product(f"<p class='price'>$11.99</p>{rows}{BUY}")
    assert [(tier.quantity, str(tier.price)) for tier in found.tiers] == [(1, "11.99"), (10, "11.49")]


STATE = {
    "page": {
        "product": {
            "usItemId": "558213409", "name": "Qarzo 300", "brand": "Tuffy", "upc": "036000291452",
            "availabilityStatus": "IN_STOCK",
            "priceInfo": {"currentPrice": {"price": 79.0, "currencyUnit": "USD"}},
        },
        "others": [{"name": "Bit set", "priceInfo": {"currentPrice": {"price": 12.0, "currencyUnit": "USD"}}}],
    }
}  # fmt: skip


@pytest.mark.parametrize(
    "script",
    [
        f"<script id='__NEXT_DATA__' type='application/json'>{json.dumps(STATE)}</script>",
        f"<script>window.state = JSON.parse({json.dumps(json.dumps(STATE))});</script>",
    ],
    ids=["json", "a string of json"],
)
def test_a_page_that_scripts_draw_is_read_from_their_state(script: str) -> None:
    reading = read_product(
        f"<html><head><title>Qarzo 300 - Example</title></head><body><div id='root'></div>{script}</body></html>", URL
    )
    assert isinstance(reading, Product)
    assert (reading.title, reading.price, reading.currency) == ("Qarzo 300", 79, "USD")
    assert (reading.sku, reading.gtin, reading.brand) == ("558213409", "036000291452", "Tuffy")
    assert reading.availability is Availability.IN_STOCK


def test_the_variant_of_the_address_stands_though_the_page_shows_another() -> None:
    variants = [
        {"id": 111, "title": "S", "sku": "TEE-S", "price": 2900, "available": False},
        {"id": 222, "title": "M", "sku": "TEE-M", "price": 3100, "available": True},
    ]
    script = f"<script>var meta = {json.dumps({'product': {'id': 9, 'variants': variants}})}; Shopify.x = 1;</script>"
    found = product(f"<p class='price'>$29.00</p>{BUY}{script}", url=f"{URL}?variant=222")
    assert (found.price, found.sku) == (31, "TEE-M")


def test_a_makes_lowest_price_of_many_is_in_doubt() -> None:
    body = (
        "<div class='product-info-main'><div class='price-box'><span class='price-label'>As low as</span>"
        f"<span class='price-wrapper' data-price-amount='54'><span class='price'>$54.00</span></span></div>{BUY}</div>"
    )
    assert product(body).doubt is QuarantineReason.AMBIGUOUS_PRICE


def test_a_site_builders_variant_tells_its_number_and_what_it_costs_now() -> None:
    told = {"variants": [{"sku": "SQ123", "price": 4000, "salePrice": 3200, "onSale": True, "unlimited": True}]}
    data = json.dumps(told).replace('"', "&quot;")
    found = product(
        f"<div class='ProductItem'><p class='product-price'>$32.00</p><div data-product='{data}'></div>{BUY}</div>"
    )
    assert (found.price, found.list_price, found.sku) == (32, 40, "SQ123")


@pytest.mark.shows("C2b")
@pytest.mark.parametrize(
    "others",
    [
        "<div><h2>Products related to this item</h2><p><a href='/p/2'>Pan 2</a><b class='a-price'>$24.00</b></p></div>",
        "<p>Replaced by <a href='/p/2'>Pan 2</a> <b>$149.00</b></p>",
        "<p><a href='/p/2'>Pan 2</a> <b class='price'>$149.00</b></p>",
    ],
    ids=["under a heading", "its successor", "named by a link"],
)
def test_what_is_gone_never_costs_what_another_does(others: str) -> None:
    reading = read(f"<main><h1>Qarzo 300</h1><p id='availability'>Currently unavailable.</p>{others}</main>")
    assert isinstance(reading, NoOffer)
    assert reading.reason is ExtractReason.OOS_NO_PRICE


def test_tiers_are_told_without_a_word_between() -> None:
    found = product(f"<p class='price'>$22.99</p><p>3 or more $21.99 each</p><p>10 or more $20.99 each</p>{BUY}")
    assert [(tier.quantity, str(tier.price)) for tier in found.tiers] == [(1, "22.99"), (3, "21.99"), (10, "20.99")]


def test_a_list_of_terms_tells_tiers() -> None:
    terms = "<dl><dt>2 - 3</dt><dd>$21.99</dd><dt>4 and above</dt><dd>$20.99</dd></dl>"
    found = product(f"<p class='price'>$22.99</p>{terms}{BUY}")
    assert [tier.quantity for tier in found.tiers] == [1, 2, 4]


@pytest.mark.parametrize(("count", "state"), [(2, Availability.IN_STOCK), (0, Availability.UNKNOWN)])
def test_offers_that_are_counted_can_be_had(count: int, state: Availability) -> None:
    offers = {"@type": "AggregateOffer", "lowPrice": "5", "highPrice": "9", "priceCurrency": "EUR", "offerCount": count}
    data = {"@type": "Product", "name": "Qarzo 300", "offers": offers}
    assert (
        product("<p>x</p>", head=f"<script type='application/ld+json'>{json.dumps(data)}</script>").availability
        is state
    )


def test_the_number_of_an_address_that_the_page_links_to_itself_is_the_articles() -> None:
    body = f'<p class="price">$9.00</p><p>ISBN 9780306406157</p><a href="/book-1589482272.html">Book</a>{BUY}'
    assert product(body, url="https://shop.example/book-1589482272.html?from=mail").sku == "1589482272"


_OTHER_AMOUNTS = """
<p>Engraving <b>$8.00</b></p>|<p>Core charge <b>$8.00</b></p>|<p>Order a sample <b>$1.00</b></p>|
<div><label><input type='checkbox'> 2 year protection plan <b>$19.99</b></label></div>|
<p>Spend <b>$50.00</b> for free shipping</p>|<p>Tip: pair with <a href='/z'>Case</a> <b>$14.00</b></p>|
<table><tr><td><a href='/b'>Other</a></td><td>$33.00</td></tr></table>|<p>This set, worth $80, contains everything.</p>|
<p>Price elsewhere: <b>$35.00</b></p>|<p>Buy 10+ at <b>$21.00</b> each</p>|<p>Montageservice voor <b>€ 79,00</b></p>|
<p>Nur noch <b>20,00 €</b> bis zur Gratislieferung</p>|
<p>Kaution 100,00 €</p>|<p>Dazu passt: <a href='/x'>Hülle</a> <b>12,00 €</b></p>|
<p>Caution 100,00 €</p>|<p>Plus que <b>20,00 €</b> pour la livraison gratuite</p>|
<p>Depósito 100,00 €</p>|<p>Montaż <b>79,00 zł</b></p>
"""


@pytest.mark.shows("C2b")
@pytest.mark.parametrize("amount", [each.strip() for each in _OTHER_AMOUNTS.split("|")])
def test_an_amount_of_something_else_is_no_price_where_the_page_has_none(amount: str) -> None:
    assert read(f"<main><h1>Qarzo 300</h1>{amount}{BUY}</main>").price is None


@pytest.mark.parametrize("amount", [each.strip() for each in _OTHER_AMOUNTS.split("|")])
def test_an_amount_of_something_else_does_not_hide_the_price(amount: str) -> None:
    reading = read(f"<main><h1>Qarzo 300</h1><div>$249.00</div>{amount}{BUY}</main>")
    assert isinstance(reading, Product)
    assert reading.price == 249


@pytest.mark.parametrize(
    "body",
    [
        "<p>Our price <b>$25.00</b></p>", "<p>Qarzo 300 <b>$25.00</b></p>", "<p>Now only <b>$25.00</b></p>",
        "<div><i>In stock</i> <b>$25.00</b></div>", "<div><i>Nike</i> <b>$25.00</b></div>",
        "<p><a href='/brands/acme'>Acme</a> <b>$25.00</b></p>", "<button>Buy now - $25.00</button>",
        "<div>$25.00</div><p>Excl. tax <b>$20.66</b></p>",
    ],
)  # fmt: skip
def test_words_that_speak_of_the_price_or_the_product_leave_it_what_it_is(body: str) -> None:
    assert product(f"{body}{BUY}").price == 25
