"""What stands on either side of an amount, and what a template writes on every page, in shops nobody had seen."""

from decimal import Decimal

import pytest

from tidemill.reading import Availability
from tidemill.verticals.prices.reading import Product, QuantityTier, read_product

pytestmark = pytest.mark.shows("C2b")

URL = "https://www.shop.com/p/1"
BUY = "<button>Add to cart</button>"


def sold(body: str, language: str = "en") -> Product:
    reading = read_product(f"<html lang={language}><title>Mug | Shop</title><h1>Mug</h1>{body}", URL)
    assert isinstance(reading, Product), reading
    return reading


@pytest.mark.parametrize(
    ("body", "price"),
    [
        ("<p class=price><b>£100.00</b> <small>ex VAT (<b>£120.00</b> inc VAT)</small></p>", "120.00"),
        ("<p class=price>£100.00 ex VAT (£120.00 inc VAT)</p>", "120.00"),
        ("<p class=price><b>£120.00</b> <small>inc VAT (<b>£100.00</b> ex VAT)</small></p>", "120.00"),
        ("<div class=prix><b>1 299€<sup>99</sup></b><div>dont 12€ d'éco-participation</div></div>", "1299.99"),
        ("<p class=price>US $129.99</p><p class=price>Approximately <b>C $181.20</b></p>", "129.99"),
    ],
    ids=["ex VAT behind, in elements", "ex VAT behind", "inc VAT behind", "levy within", "about so much"],
)
def test_words_behind_an_amount_are_about_that_one(body: str, price: str) -> None:
    assert sold(body + BUY).price == Decimal(price)


def test_a_price_that_is_written_twice_is_what_either_side_says_of_it() -> None:
    twice = "<i class=price><u class=offscreen>{0}</u><u aria-hidden=true>{0}</u></i>"
    body = (
        twice.format("$14.98")
        + f"<span>({twice.format('$0.62')} / Ounce)</span><div>List Price: {twice.format('$17.49')}</div>"
    )
    product = sold(body + BUY)
    assert (product.price, product.list_price) == (Decimal("14.98"), Decimal("17.49"))


def test_tiers_that_are_told_by_their_ends_begin_behind_the_one_before() -> None:
    rows = "".join(
        f"<tr><th>{until}</th><td>{price} €*</td></tr>"
        for until, price in (("Bis 9", "12,50"), ("Bis 49", "11,20"), ("Ab 50", "9,90"))
    )
    product = sold(
        f"<table><tr><th>Anzahl</th><th>Stückpreis</th></tr>{rows}</table><button>Jetzt kaufen</button>", "de"
    )
    assert product.price == Decimal("12.50")
    assert product.tiers == (
        QuantityTier(1, Decimal("12.50")), QuantityTier(10, Decimal("11.20")), QuantityTier(50, Decimal("9.90")),
    )  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "<p>Temporarily unavailable. We will tell you as soon as it is back, if you leave your address.</p>",
        "<button>Notify me</button>",
        "<button>Join the waitlist</button>",
    ],
)
def test_what_tells_people_later_is_out_of_stock(body: str) -> None:
    assert sold(f"<p class=price>£24.00</p>{body}").availability == Availability.OUT_OF_STOCK


@pytest.mark.parametrize("button", ["Notify me of price drops", "Email me this deal"])
def test_a_button_that_tells_of_prices_says_nothing_of_the_stock(button: str) -> None:
    product = sold(f"<p class=price>£24.00</p>{BUY}<button>{button}</button>")
    assert product.availability == Availability.IN_STOCK


def test_a_badge_of_the_template_is_not_believed_against_a_button_that_sells() -> None:
    badge = "<span class='badge price__badge-sold-out'>Sold out</span>"
    assert sold(f"<p class=price>£24.00</p>{badge}{BUY}").availability == Availability.IN_STOCK
    refused = sold(f"<p class=price>£24.00</p>{badge}<button disabled>Sold out</button>")
    assert refused.availability == Availability.OUT_OF_STOCK
