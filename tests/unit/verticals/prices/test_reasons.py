"""Every reason, reached from a page: what the adapter answers to it, and what the rules make of that."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context
from tidemill.lab.faults import RobotsChange
from tidemill.verticals.prices.definition import PRICES
from tidemill.verticals.prices.glitch import Glitch, PriceSeen, glitch
from tidemill.verticals.prices.lab.answer import answer
from tidemill.verticals.prices.lab.shop import build_shops
from tidemill.verticals.prices.reasons import DropReason, ExtractReason, QuarantineReason, Reason, reason_of

pytestmark = pytest.mark.shows("C3")

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
URL = "https://www.shop.example/product/9mm"
BUTTON = "<button>Add to cart</button>"


def page_of(markup: str, url: str = URL, final_url: str = "") -> Page:
    return Page(
        id=1, url=url, final_url=final_url or url, status_code=200, body=markup.encode(), charset="utf-8",
        content_type="text/html; charset=utf-8", digest=1, fetched_at=NOON,
    )  # fmt: skip


def context_of(adapter: str = "prices.generic", final_url: str = URL, **settings: Any) -> Context:
    source = Source(
        id=3, name="Shop", vertical="prices", base_url="https://www.shop.example/", adapter_id=adapter,
        adapter_settings=settings,
    )  # fmt: skip
    return Context(source, final_url, NOON)


def read(markup: str, adapter: str = "prices.generic", final_url: str = "", **settings: Any) -> Reading:
    page = page_of(markup, final_url=final_url)
    return PRICES.adapters[adapter].read(page, context_of(adapter, page.final_url, **settings))


def judged(markup: str, adapter: str = "prices.generic", **settings: Any) -> list[Verdict]:
    found = read(markup, adapter, **settings)
    assert isinstance(found, Found), found
    return [PRICES.judge(record, context_of(adapter, **settings)) for record in found.records]


def failure_reason(reading: Reading) -> Reason | None:
    assert isinstance(reading, Fail), reading
    return reason_of(reading.failure, reading.detail)


def product(body: str, head: str = "") -> str:
    return f"<html><head>{head}</head><body><main class='product'>{body}</main></body></html>"


def data(offer: str, name: str = '"name":"9mm Ammo",') -> str:
    block = f'{{"@type":"Product",{name}"sku":"A1","offers":{{{offer}}}}}'
    return product("<h1>9mm Ammo</h1>", f'<script type="application/ld+json">{block}</script>')


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        (product(f"<h1>9mm Ammo</h1>{BUTTON}"), ExtractReason.PRICE_NOT_FOUND),
        (product(f'<span class="price">$12.50</span>{BUTTON}'), ExtractReason.TITLE_NOT_FOUND),
        (product("<h1>About us</h1><p>We have been here since 1990, and like it.</p>"),
         ExtractReason.PAGE_STRUCTURE_CHANGED),
        (product("<h1>Access denied</h1><div class='g-recaptcha'></div>"), ExtractReason.BLOCKED_PAGE),
        ("<html><body> </body></html>", ExtractReason.EMPTY_PAGE),
        ("", ExtractReason.EMPTY_PAGE),
    ],
)  # fmt: skip
def test_a_page_without_an_offer_fails_with_its_reason(markup: str, reason: ExtractReason) -> None:
    assert failure_reason(read(markup)) is reason


def test_a_selector_that_finds_nothing_is_named() -> None:
    markup = '<body class="single-product"><div class="product"><h2>9mm</h2></div></body>'
    assert failure_reason(read(markup, "prices.sgammo")) is ExtractReason.SELECTOR_NOT_FOUND
    assert failure_reason(read("<body><p>Something else, of some length.</p></body>", "prices.template")) is (
        ExtractReason.SELECTOR_NOT_FOUND
    )


def test_a_title_that_has_moved_is_read_by_general_rules_with_a_note() -> None:
    markup = product(f'<h1 class="name">9mm Ammo 50 rounds</h1><p class="price">$12.50</p>{BUTTON}')
    found = read(markup.replace("<main class='product'>", '<div class="product">'), "prices.sgammo")
    assert isinstance(found, Found)
    assert found.records[0].fields["price"] == "12.50"
    assert "general rules" in found.notes[0]


@pytest.mark.shows("B13")
def test_a_redirect_to_a_list_means_that_the_structure_changed() -> None:
    cards = "".join(
        f"<li class='item'><a href='/product/{n}'><img src='{n}.jpg'><h2>Ammo {n}</h2></a>"
        f"<span class='price'>${n}.50</span></li>"
        for n in range(1, 7)
    )
    listing = f"<body><h1>Ammunition</h1><ul>{cards}</ul></body>"
    for adapter in ("prices.generic", "prices.sgammo", "prices.template"):
        reading = read(listing, adapter, final_url="https://www.shop.example/ammunition", selectors={"title": ".t"})
        assert failure_reason(reading) is ExtractReason.PAGE_STRUCTURE_CHANGED


@pytest.mark.shows("C2")
def test_sold_out_without_a_price_is_told_by_the_reader_and_dropped_without_harm() -> None:
    [verdict] = judged(data('"availability":"OutOfStock"'))
    assert verdict == Dropped(DropReason.OOS_NO_PRICE, "sold out, and no price shown", harmless=True)


def drops(markup: str, **settings: Any) -> str:
    verdict = judged(markup, **settings)[-1]
    assert isinstance(verdict, Dropped), verdict
    assert not verdict.harmless
    return verdict.reason


def test_a_price_without_any_currency_lacks_a_required_field() -> None:
    assert drops(data('"price":"12.50","availability":"InStock"')) == DropReason.MISSING_REQUIRED_FIELD


def test_a_price_beyond_belief_is_invalid() -> None:
    offer = '"price":"1500000.00","priceCurrency":"USD","availability":"InStock"'
    assert drops(data(offer)) == DropReason.INVALID_PRICE


@pytest.mark.shows("B13")
def test_a_price_that_nobody_can_read_is_invalid_and_never_zero() -> None:
    markup = product("<h1>9mm</h1><p class='price'>call 12-05-2024</p><p class='stock'>In stock</p>")
    verdict = judged(markup, "prices.template")[0]
    assert verdict == Dropped(DropReason.INVALID_PRICE, "call 12-05-2024")


def test_silence_about_stock_is_dropped_and_counts() -> None:
    assert drops(data('"price":"12.50","priceCurrency":"USD"')) == DropReason.UNKNOWN_AVAILABILITY


LIST = (
    "<body><h1>Ammo</h1><ul><li class='i'><h2><a href='/a'>Ammo A</a></h2><b class='price'>$5.00</b></li>"
    "<li class='i'><h2><a href='{second}'>Ammo B</a></h2><b class='price'>$6.00</b></li></ul></body>"
)


def test_a_product_that_a_list_shows_twice_is_dropped_the_second_time() -> None:
    assert drops(LIST.format(second="/a"), page="list") == DropReason.DUPLICATE_WITHIN_RUN


def test_an_address_that_is_none_is_invalid() -> None:
    assert drops(LIST.format(second="ftp://shop.example/b"), page="list") == DropReason.INVALID_URL


def test_robots_txt_has_a_word_of_its_own() -> None:
    [shop] = build_shops(7, 1, NOON)
    fields = answer(shop, "/robots.txt", [RobotsChange()], NOON)
    assert "Disallow: /product/" in fields.page
    assert reason_of(Failure.ROBOTS_DISALLOWED) is DropReason.BLOCKED_BY_ROBOTS_TXT


def quarantines(markup: str, adapter: str = "prices.generic", **settings: Any) -> str:
    [verdict] = judged(markup, adapter, **settings)
    assert isinstance(verdict, Quarantined), verdict
    return verdict.reason


def test_a_price_in_another_currency_than_the_sources_fails_validation() -> None:
    offer = '"price":"12.50","priceCurrency":"EUR","availability":"InStock"'
    assert quarantines(data(offer), currency="USD") == QuarantineReason.VALIDATION_FAILED


def test_a_currency_that_nobody_knows_fails_to_normalize() -> None:
    markup = product("<h1>9mm</h1><p class='price'>QQQ 12.50</p><p class='stock'>In stock</p>")
    selectors = {"title": "h1", "price": ".price", "availability": ".stock", "currency": ".price"}
    verdict = quarantines(markup, "prices.template", selectors=selectors)
    assert verdict == QuarantineReason.NORMALIZATION_FAILED


def test_a_zero_price_is_for_a_person_to_see() -> None:
    offer = '"price":"0.00","priceCurrency":"USD","availability":"InStock"'
    assert quarantines(data(offer)) == QuarantineReason.ZERO_PRICE_EXTRACTED


@pytest.mark.shows("C2")
def test_several_prices_and_no_rule_to_choose_are_ambiguous() -> None:
    markup = product(
        f"<h1>9mm</h1><div><span class='price'>$12.50</span><span class='price'>$15.00</span></div>{BUTTON}"
    )
    assert quarantines(markup) == QuarantineReason.AMBIGUOUS_PRICE


def test_the_lowest_of_several_prices_is_ambiguous() -> None:
    markup = product(f"<h1>9mm</h1><span class='price'>from $12.50</span>{BUTTON}")
    assert quarantines(markup) == QuarantineReason.AMBIGUOUS_PRICE


def test_a_known_shop_whose_price_stands_elsewhere_is_a_selector_failure() -> None:
    markup = (
        '<body class="single-product"><div class="product"><h1 class="product_title">9mm</h1>'
        f'<b class="amount">$12.50</b>{BUTTON}</div></body>'
    )
    assert quarantines(markup, "prices.sgammo") == QuarantineReason.SELECTOR_FAILURE


@pytest.mark.shows("X9")
def test_a_price_that_jumps_a_hundredfold_is_drift_until_it_is_read_again() -> None:
    """The rule, on two readings of a page; that the store holds it as DRIFT_DETECTED is shown on both databases."""
    seen = []
    for price in ("12.50", "1250.00"):
        [verdict] = judged(data(f'"price":"{price}","priceCurrency":"USD","availability":"InStock"'))
        assert isinstance(verdict, Accepted)
        seen.append(PriceSeen(verdict.record.price_cents, verdict.record.currency))
    assert glitch(seen[1], seen[0]) is Glitch.JUMPED
