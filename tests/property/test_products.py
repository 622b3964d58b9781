"""Laws of reading products: whatever a page holds, it answers, alike each time, and with no price of its own making."""

import re
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill.core.reasons import ExtractReason, QuarantineReason
from tidemill.reading import NoOffer, Product, parse_money, read_product, read_products

PIECES = st.sampled_from([
    "<div class='price'>", "</div>", "<h1>Thing</h1>", "<button>Add to cart</button>", "<del>", "</del>",
    "<sup>99</sup>", "$12.99", "€ 1.299,-", "12", "was", "save 20%", "per kg", "</li>",
    "<li class=item><a href=/x><img><h2>Other</h2></a>",
    "<script type='application/ld+json'>", '{"@type":"Product","name":"Thing",', '"offers":{"price":"3.50"', '"price":',
    '"priceCurrency":"EUR"', "}}", "[", "null", "</script>", "<table><tr><td>1-4</td><td>$5</td></tr>",
    "<meta property='product:price:amount' content='7,50'>", "itemscope itemtype=http://schema.org/Product",
    "itemprop=price", "\x00", "²", "٣", "999999999999999999999999", "-", "<span", ">", "In stock", "Sold out", "NaN",
    "1e9", "Infinity",
])  # fmt: skip
MARKUP = st.lists(PIECES | st.text(max_size=6), max_size=40).map("".join)
DIGITS = re.compile(r"\d")


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


@settings(max_examples=200, deadline=None)
@given(
    markup=st.lists(PIECES.filter(lambda piece: not DIGITS.search(piece)) | st.text("ab <>$€", max_size=6)).map("".join)
)
def test_a_page_without_a_number_has_no_price(markup: str) -> None:
    assert read_product(markup, "https://shop.example/p").price is None


@settings(max_examples=200, deadline=None)
@given(markup=MARKUP)
def test_the_digits_of_a_price_stand_on_the_page_in_their_order(markup: str) -> None:
    price = read_product(markup, "https://shop.example/p").price
    if price is not None:
        wanted = "".join(DIGITS.findall(str(price.normalize() if price != price.to_integral() else int(price))))
        ascii_digits = "".join(str(int(c)) for c in markup if c.isdecimal())
        assert all(digit in ascii_digits for digit in wanted)


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
