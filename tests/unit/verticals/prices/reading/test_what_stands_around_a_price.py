"""What stands around a price decides what it is: the product's own, a former one, or no price at all."""

from decimal import Decimal

import pytest

from tidemill.reading import Availability
from tidemill.reading.stock import stock_line
from tidemill.verticals.prices.reading import NoOffer, Product, read_product
from tidemill.verticals.prices.reasons import ExtractReason

pytestmark = pytest.mark.shows("C2")

URL = "https://www.shop.com/p/1"


def sold(markup: str, url: str = URL) -> Product:
    reading = read_product(markup, url)
    assert isinstance(reading, Product), reading
    return reading


def prices(markup: str) -> tuple[Decimal | None, Decimal | None]:
    product = sold(markup)
    return product.price, product.list_price


@pytest.mark.parametrize(
    "around",
    [
        "<span class='price'>$12.00</span>",
        "<div>$12.00</div>",
        "<p>Intro</p><p>Words</p><p>Our price: $12.00</p>",
        "<p>Words</p><p>SKU: AB-12</p><p>now $12.00 only</p>",
        "<p>Words</p><p>$12.00</p><p><s>$15.00</s></p>",
    ],
    ids=["named", "alone under the heading", "called a price", "with a number", "with a crossed-out one"],
)
def test_a_page_without_a_button_that_sells_is_known_by_how_it_shows_its_price(around: str) -> None:
    assert sold(f"<h1>Mug</h1>{around}").price == 12


@pytest.mark.parametrize(
    "words",
    [
        "The fee is $12.00 for each member who comes, and dinner costs extra.",
        "Router R2 costs nothing, R5 neither",
        "<b>up to 12</b>",
    ],
)
def test_a_number_in_prose_or_in_a_name_makes_no_product(words: str) -> None:
    reading = read_product(f"<h1>Router R1</h1><p>{words}</p>", URL)
    assert isinstance(reading, NoOffer)
    assert reading.reason is ExtractReason.PAGE_STRUCTURE_CHANGED


def test_rand_are_read_where_people_pay_with_them() -> None:
    markup = "<html lang='en-ZA'><h1>Stand R5</h1><div class='price'>R1299</div><button>Add to cart</button>"
    product = sold(markup, "https://www.shop.co.za/p")
    assert (product.price, product.currency) == (1299, "ZAR")


@pytest.mark.parametrize("discount", ["25% off", "-25%", "%25", "You save $5.00"])
def test_of_two_unnamed_prices_the_discount_between_them_tells_the_former(discount: str) -> None:
    markup = f"<h1>Mug</h1><i>$20.00</i><i>$15.00</i><i>{discount}</i><button>Add to cart</button>"
    assert prices(markup) == (15, 20)


def test_a_discount_that_does_not_fit_two_prices_leaves_them_in_doubt() -> None:
    reading = read_product("<h1>Mug</h1><i>$20.00</i><i>$15.00</i><i>60% off</i><button>Add to cart</button>", URL)
    assert isinstance(reading, NoOffer)
    assert reading.product.candidates


def test_the_regular_price_is_the_former_one_beside_a_lower_and_the_price_by_itself() -> None:
    regular, button = "<b class='regular-price'>$20.00</b>", "<button>Add to cart</button>"
    assert prices(f"<h1>Mug</h1>{regular}<b class='sale-price'>$15.00</b>{button}") == (15, 20)
    assert prices(f"<h1>Mug</h1>{regular}{button}") == (20, None)


def test_the_lowest_price_of_late_is_a_list_price_only_where_no_other_is_told() -> None:
    lowest, button = "<p>Lowest price in 30 days: $16.00</p>", "<button>Add to cart</button>"
    price = "<b class='price'>$15.00</b>"
    assert prices(f"<h1>Mug</h1>{price}{lowest}<p>Regular price: $20.00</p>{button}") == (15, 20)
    assert prices(f"<h1>Mug</h1>{price}{lowest}{button}") == (15, 16)


@pytest.mark.parametrize("badge", ["Free delivery", "Gratis verzending", "Livraison gratuite", "送料無料"])
def test_free_delivery_before_a_price_says_nothing_of_it(badge: str) -> None:
    assert sold(f"<h1>Mug</h1><i>{badge}</i><div class='cost'><i>$12.00</i></div><button>Buy now</button>").price == 12


@pytest.mark.parametrize(
    "other",
    ["Other sellers: from $9.00", "Used from $9.00", "$9.00 coupon", "Get $9.00", "2 for $9.00", "$9.00 a year"],
)
def test_what_others_ask_or_a_coupon_gives_is_not_the_price(other: str) -> None:
    markup = f"<h1>Mug</h1><i>$12.00</i><button>Add to cart</button><p>{other}</p>"
    assert sold(markup).price == 12


def test_a_sign_and_cents_may_stand_by_themselves() -> None:
    button = "<button>Add to cart</button>"
    for pieces in (
        "<i>$</i><i>34</i><i>99</i>", "<i>$34</i><i>.99</i>", "<i>34</i><sup>99</sup> <i>$</i>",
        "<i>$</i><i>34</i><i>.</i><i>99</i>",
    ):  # fmt: skip
        assert sold(f"<h1>Kettle</h1><div class='price'>{pieces}</div>{button}").price == Decimal("34.99"), pieces


def test_a_brand_is_read_from_the_element_that_is_named_for_it() -> None:
    markup = "<h1>Mug</h1><a class='product-brand'>by Acme</a><b class='price'>$12</b><button>Buy now</button>"
    product = sold(markup)
    assert (product.brand, product.places["brand"]) == ("Acme", "named: product-brand")


def test_an_offer_whose_product_was_not_marked_up_stands_for_itself() -> None:
    offer = (
        "<div itemprop='offers' itemscope itemtype='http://schema.org/Offer'><meta itemprop='price' content='12'>"
        "<meta itemprop='priceCurrency' content='EUR'><link itemprop='availability' href='http://schema.org/InStock'></div>"
    )
    product = sold(f"<h1>Mug</h1>{offer}")
    assert (product.price, product.currency, product.availability) == (12, "EUR", Availability.IN_STOCK)


def test_stock_is_read_from_a_short_line_under_the_heading() -> None:
    assert sold("<h1>Mug</h1><b class='price'>$12</b><p>In stock online</p>").availability is Availability.IN_STOCK
    assert sold("<h1>Mug</h1><b class='price'>$12</b><p>Sold out</p>").availability is Availability.OUT_OF_STOCK


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Op voorraad", Availability.IN_STOCK), ("Stock: 12 in stock", Availability.IN_STOCK),
        ("14 Units in Stock", Availability.IN_STOCK), ("Skladem > 5 ks", Availability.IN_STOCK),
        ("Rupture de stock", Availability.OUT_OF_STOCK), ("available in seven colours and sizes", Availability.UNKNOWN),
        ("Why in stock?", Availability.UNKNOWN), ("Blue", Availability.UNKNOWN),
    ],
)  # fmt: skip
def test_a_line_tells_of_the_stock_only_if_it_is_about_little_else(line: str, said: Availability) -> None:
    assert stock_line(line) is said


@pytest.mark.parametrize("button", ['<button name="add-to-cart" value="1001">Add to cart</button>', ""])
def test_a_woocommerce_product_keeps_its_id_when_it_is_sold_out(button: str) -> None:
    stock = "in-stock'>In stock" if button else "out-of-stock'>Out of stock"
    markup = (
        "<body class='single-product'><div id='product-1001' class='product'><div class='summary'><h1>Mug</h1>"
        f"<p class='price'><span class='amount'>$12.00</span></p><p class='stock {stock}</p>{button}</div></div></body>"
    )
    assert sold(markup).product_id == "1001"


@pytest.mark.parametrize(
    ("language", "shown", "currency"),
    [("is", "129.995 kr.", "ISK"), ("sv", "1 299 kr", "SEK"), ("da", "1.299 kr.", "DKK")],
)
def test_a_language_that_is_at_home_in_one_place_decides_what_its_sign_means(
    language: str, shown: str, currency: str
) -> None:
    markup = f"<html lang='{language}'><h1>Thing</h1><div class='price'>{shown}</div><button>Add to cart</button>"
    assert sold(markup).currency == currency


def test_a_former_price_without_a_sign_is_known_by_its_word() -> None:
    assert prices("<html lang='nl'><h1>Pan</h1><i>Van 39,99</i><i>29,-</i><button>Bestellen</button>") == (
        29, Decimal("39.99"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "card",
    [
        "<div class='c'><a href='/p/{n}'>Mug {n}</a><span class='price'>${n}.50</span></div>",
        "<div class='c'><a href='/p/{n}'><img></a><a href='/p/{n}'>Mug {n}</a><p>${n}.50</p></div>",
    ],
    ids=["without pictures", "without names"],
)
def test_a_list_is_no_product_though_a_price_stands_right_under_its_heading(card: str) -> None:
    listing = "".join(card.format(n=number) for number in range(3, 9))
    reading = read_product(f"<h1>Mugs</h1><div>{listing}</div>", "https://www.shop.com/c/mugs")
    assert isinstance(reading, NoOffer)
    assert reading.reason is ExtractReason.PAGE_STRUCTURE_CHANGED


def test_what_an_evening_costs_is_no_products_price() -> None:
    assert read_product("<h1>Jazz</h1><p>12 December, 20:00</p><p>$15.00</p>", URL).price is None
