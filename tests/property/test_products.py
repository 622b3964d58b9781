"""Laws of reading products: whatever a page holds, it answers, alike each time, and with no price of its own making."""

import re
from decimal import Decimal
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill.reading import parse_money
from tidemill.verticals.prices.reading import NoOffer, Product, read_product, read_products
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason

PIECES = st.sampled_from([
    "<div class='price'>", "</div>", "<h1>Thing</h1>", "<button>Add to cart</button>", "<del>", "</del>",
    "<sup>99</sup>", "$12.99", "€ 1.299,-", "12", "was", "save 20%", "per kg", "</li>",
    "<li class=item><a href=/x><img><h2>Other</h2></a>",
    "<script type='application/ld+json'>", '{"@type":"Product","name":"Thing",', '"offers":{"price":"3.50"', '"price":',
    '"priceCurrency":"EUR"', "}}", "[", "null", "</script>", "<table><tr><td>1-4</td><td>$5</td></tr></table>",
    "<meta property='product:price:amount' content='7,50'>", "itemscope itemtype=http://schema.org/Product",
    "itemprop=price", "\x00", "²", "٣", "999999999999999999999999", "-", "<span", ">", "In stock", "Sold out", "NaN",
    "1e9", "Infinity", "1\u2019299.\u2013", "<span class=cents>", "</span>", "was $20", "2 for $10", "99¢", "SKU: 4711",
    "incl. VAT",
    "<h3>Related products</h3>", "3x $4", "$5 - $9", "<data value=7.5>",
    '<script>s={"product":{"name":"Thing","price":{"centAmount":8900,"fractionDigits":2,"currencyCode":"USD"}}}</script>',
])  # fmt: skip
MARKUP = st.lists(PIECES | st.text(max_size=6), max_size=40).map("".join)
SOLD = st.lists(PIECES | st.text(max_size=6), max_size=12).map(
    lambda pieces: f"<h1>Thing</h1><div class='product-price'>{''.join(pieces)}</div><button>Add to cart</button>"
)
"""A page that sells something, so that what stands in it is taken for a price where it can be."""
DIGITS = re.compile(r"\d")
UNSEEN = r"\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ufffe\uffff"
BETWEEN = rf"[\s{UNSEEN}.,€$£'\u2019\u02bc\u00b4\u066c\u066b]|<[^<>]*>"


@pytest.mark.shows("P2")
@settings(max_examples=300, deadline=None)
@given(markup=MARKUP)
def test_every_page_answers_an_offer_or_a_reason(markup: str) -> None:
    answer = read_product(markup, "https://shop.example/p")
    if isinstance(answer, Product):
        assert answer.title
        assert answer.price is not None
        assert answer.price > 0
    else:
        assert isinstance(answer, NoOffer)
        assert isinstance(answer.reason, ExtractReason | QuarantineReason)
        assert "Error" not in answer.detail, answer.detail
    assert read_product(markup, "https://shop.example/p") == answer
    read_products(markup, "https://shop.example/p")


@pytest.mark.shows("C2")
@settings(max_examples=200, deadline=None)
@given(
    markup=st.lists(PIECES.filter(lambda piece: not DIGITS.search(piece)) | st.text("ab <>$€", max_size=6)).map("".join)
)
def test_a_page_without_a_number_has_no_price(markup: str) -> None:
    assert read_product(markup, "https://shop.example/p").price is None


SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
"""What no reader sees: `$9<script>...</script><sup>99</sup>` is shown as 9.99."""


@pytest.mark.shows("C2")
@settings(max_examples=400, deadline=None)
@given(markup=MARKUP | SOLD)
def test_a_price_stands_on_the_page_as_one_run_of_digits_with_separators(markup: str) -> None:
    answer = read_product(markup, "https://shop.example/p")
    for price in filter(None, (answer.price, *_beside(answer))):
        assert stands_on(price, markup) or stands_on(price, SCRIPT.sub("", markup)), (price, answer)


@pytest.mark.parametrize(
    ("shown", "price"),
    [("SKU: 47111\u2019299.\u2013 $5.00", "5.00"), ("\u20ac 1.299,-<sup>99</sup>", "1299"), ("R5 or $7.00", "7.00")],
    ids=["the tail of a longer number", "cents behind a dash that stands for them", "a name with a number"],
)
def test_what_once_made_a_price_up_does_so_no_more(shown: str, price: str) -> None:
    markup = f"<h1>Thing</h1><div class='product-price'>{shown}</div><button>Add to cart</button>"
    assert read_product(markup, "https://shop.example/p").price == Decimal(price)


def _beside(answer: Product | NoOffer) -> list[Decimal | None]:
    """Every further amount that a reading tells: none of them may be made up either."""
    told = answer if isinstance(answer, Product) else answer.product
    return [told.list_price, told.high_price, *told.candidates]


def stands_on(price: Decimal, markup: str) -> bool:
    """Whether the digits of a price follow each other, with nothing but separators, signs and tags between them.

    They begin a number of the page and end one, but for zeros at either end: `89.00` may be written 89 or 8900 cents.
    """
    digits = "".join(DIGITS.findall(f"{price:f}")).strip("0") or "0"
    written = "".join(str(int(each)) if each.isdecimal() else each for each in unescape(markup))
    run = rf"(?:{BETWEEN})*".join(digits)
    return re.search(rf"(?<!\d)(?<!\d[.,'])(?:0(?:{BETWEEN})*)*{run}(?:(?:{BETWEEN})*0)*(?!\d)", written) is not None


@pytest.mark.parametrize(
    ("price", "markup", "stands"),
    [
        ("12.99", "$12.99", True), ("12.99", "<b>12</b><sup>99</sup>", True), ("1299", "€ 1.299,-", True),
        ("89", '{"centAmount":8900}', True), ("0.99", "99¢", True), ("99", "$12.99", False),
        ("29", "$1299", False), ("1299", "$12 for 99", False), ("21.99", "$12.99", False), ("5", "$15", False),
    ],
)  # fmt: skip
def test_the_law_itself_tells_a_made_up_price(price: str, markup: str, stands: bool) -> None:  # noqa: FBT001 - a table
    assert stands_on(Decimal(price), markup) is stands


@given(text=st.text(max_size=60) | st.from_regex(r"[-$€£ ]{0,3}\d{1,4}[.,' ]\d{1,3}[ €%/kg-]{0,4}", fullmatch=True))
def test_money_is_never_negative_and_never_throws(text: str) -> None:
    money = parse_money(text)
    assert money is None or (money.amount >= 0 and money.amount.is_finite())


@given(
    cents=st.integers(min_value=1, max_value=99_999_999), form=st.sampled_from(["{:,.2f} $", "€ {:.2f}", "GBP {:,.2f}"])
)
def test_money_reads_back_what_was_written(cents: int, form: str) -> None:
    amount = Decimal(cents) / 100
    money = parse_money(form.format(amount))
    assert money is not None
    assert money.amount == amount
