"""Each step of reading a product page by itself: data, content, candidates, kind of page, price, product."""

from decimal import Decimal

from tidemill.core.record import Strategy
from tidemill.reading import Availability, Document
from tidemill.verticals.prices.reading.attempts import attempt
from tidemill.verticals.prices.reading.candidates import PriceCandidates, candidates_of, title_of
from tidemill.verticals.prices.reading.claims.claim import PriceClaim
from tidemill.verticals.prices.reading.page_content import PageContent, content_of
from tidemill.verticals.prices.reading.page_data import PageData, data_of
from tidemill.verticals.prices.reading.page_kind import PageKind, kind_of
from tidemill.verticals.prices.reading.pricing import chosen_price
from tidemill.verticals.prices.reading.product import QuantityTier
from tidemill.verticals.prices.reading.product_fields import availability_of, fields_of, product_of
from tidemill.verticals.prices.reading.reader import page_title, price_of
from tidemill.verticals.prices.reading.shown.page_layout import EMPTY_LAYOUT

URL = "https://www.shop.nl/p/1"
KETTLE = (
    "<title>Kettle | Shop</title><h1>Kettle</h1><p class=price>€ 12,50</p><p class=stock>Op voorraad</p>"
    "<p>Artikelnummer: K-1</p><table><tr><td>Merk</td><td>Acme</td></tr></table><button>Add to cart</button>"
)
CARDS = "".join(
    f"<li class=card><a href=/p/{n}><img src=/{n}.jpg><h2>Kettle {n}</h2></a><b class=price>€ {n}9,50</b></li>"
    for n in range(1, 6)
)
LIST = f"<h1>All kettles</h1><ul>{CARDS}</ul>"
JSON_LD = (
    '<script type="application/ld+json">{"@type":"Product","name":"Kettle","sku":"K-1",'
    '"offers":{"price":"12.50","priceCurrency":"EUR","availability":"InStock"}}</script>'
)


def document(markup: str) -> Document:
    return Document(markup, URL)


def steps(markup: str) -> tuple[PageData, PageContent, PriceCandidates, PageKind]:
    page = document(markup)
    data = data_of(page, "")
    content = content_of(page, "")
    candidates = candidates_of(page, data, content)
    return data, content, candidates, kind_of(page, data, content, candidates)


def content(*, stock: tuple[Availability, str] = (Availability.UNKNOWN, ""), **rest: object) -> PageContent:
    shown = {"labels": {}, "tiers": (), "attributes": {}, "notes": (), **rest}
    return PageContent(layout=EMPTY_LAYOUT, stock=stock, **shown)  # type: ignore[arg-type]


def claim(price: str | None = None, origin: str = "json-ld/0", **fields: str) -> PriceClaim:
    return PriceClaim(
        strategy=Strategy.JSONLD,
        origin=origin,
        confidence=0.95,
        fields=fields,
        price=None if price is None else Decimal(price),
        currency="EUR",
    )


def candidates(*claims: PriceClaim, title: tuple[str, str] = ("Kettle", "h1")) -> PriceCandidates:
    return PriceCandidates(claims=claims, ranked=(), title=title, currency="EUR", notes=())


def kind(*, sells: bool = True, has_buy_button: bool = False, is_list: bool = False) -> PageKind:
    return PageKind(sells=sells, has_buy_button=has_buy_button, is_list=is_list, has_product_data=True, notes=())


def test_a_step_that_fails_leaves_its_fallback_and_a_note() -> None:
    assert attempt(lambda: 1, 0) == (1, ())
    assert attempt(lambda: int("x"), 0) == (0, ("ValueError: invalid literal for int() with base 10: 'x'",))


def test_data_claims_a_price_its_currency_and_that_the_page_is_a_products() -> None:
    data = data_of(document(JSON_LD), "")
    assert [(each.price, each.currency) for each in data.claims] == [(Decimal("12.50"), "EUR")]
    assert (data.currency, data.is_product_page, data.listed) == ("EUR", True, 0)


def test_without_data_the_currency_is_that_of_the_shops_country() -> None:
    data = data_of(document(KETTLE), "")
    assert (list(data.claims), data.currency, data.is_product_page) == ([], "EUR", False)
    assert data_of(document(KETTLE), "USD").currency == "USD"


def test_the_content_has_the_heading_stock_labels_and_tables() -> None:
    seen = content_of(document(KETTLE), "")
    assert seen.layout.heading is not None
    assert seen.stock == (Availability.IN_STOCK, "notice: Op voorraad")
    assert seen.labels["sku"][0] == "K-1"
    assert seen.attributes == {"merk": "Acme"}


def test_shown_prices_are_candidates_with_the_title_of_the_heading() -> None:
    _, _, found, _ = steps(KETTLE)
    assert [each.shown.amount for each in found.ranked] == [Decimal("12.50")]
    assert found.title == ("Kettle", "h1")


def test_attributes_are_asked_only_where_no_data_claims_a_price() -> None:
    marked = "<h1>Kettle</h1><div data-price=9.95></div>"
    _, _, found, _ = steps(marked)
    assert [each.origin for each in found.claims] == ["markup"]
    _, _, found, _ = steps(JSON_LD + marked)
    assert [each.origin for each in found.claims] == ["json-ld/0"]


def test_the_datas_title_goes_before_the_heading_and_that_before_meta_tags() -> None:
    data, seen, _, _ = steps("<meta property=og:title content='Kettle by Acme'><h1>The kettle</h1>")
    assert title_of([claim(title="Kettle")], data, seen) == ("Kettle", "json-ld/0/title")
    assert title_of([], data, seen) == ("The kettle", "h1")
    assert title_of([], data, content()) == ("Kettle by Acme", "meta/og:title")


def test_a_page_with_a_button_sells_and_one_of_cards_is_a_list() -> None:
    *_, shop = steps(KETTLE)
    assert (shop.sells, shop.has_buy_button, shop.is_list) == (True, True, False)
    *_, overview = steps(LIST)
    assert (overview.has_buy_button, overview.is_list) == (False, True)


def test_a_list_with_a_products_data_is_that_products_page() -> None:
    *_, found = steps(JSON_LD + LIST)
    assert (found.is_list, found.has_product_data) == (False, True)


def test_the_best_trusted_claim_is_the_price_and_of_tiers_that_of_one() -> None:
    chosen = chosen_price(candidates(claim("12.50"), claim("9")), content(), sells=False)
    assert chosen is not None
    assert (chosen.amount, chosen.currency, chosen.place) == (Decimal("12.50"), "EUR", "json-ld/0/price")
    tiers = (QuantityTier(1, Decimal(14)), QuantityTier(5, Decimal("12.50")))
    of_one = chosen_price(candidates(claim("12.50")), content(tiers=tiers), sells=False)
    assert of_one is not None
    assert of_one.amount == Decimal(14)


def test_a_list_has_no_price_of_its_own() -> None:
    known = candidates(claim("12.50"))
    assert price_of(document(LIST), content(), known, kind(is_list=True)) == (None, ())
    assert price_of(document(LIST), content(), known, kind())[0] is not None


def test_the_pages_title_names_the_product_only_where_it_can_be_no_other() -> None:
    page = document("<title>Kettle | Shop</title>")
    unnamed = candidates(title=("", "meta/og:title"))
    assert page_title(page, unnamed, kind(), None) == ("Kettle", "title")
    assert page_title(page, unnamed, kind(sells=False), None) == ("", "meta/og:title")
    priced = candidates(claim("12.50"), title=("", "meta/og:title"))
    assert page_title(page, priced, kind(), None) == ("", "meta/og:title")
    assert page_title(page, priced, kind(has_buy_button=True), None) == ("Kettle", "title")


def test_fields_come_from_claims_then_tables_then_labels() -> None:
    seen = content(attributes={"merk": "Acme", "sku": "T-1"}, labels={"sku": ("L-1", "label"), "mpn": ("M-1", "label")})
    fields = fields_of(document("<link rel=canonical href=/kettle>"), [claim(brand="Claimed")], seen)
    assert fields["brand"] == ("Claimed", "json-ld/0/brand")
    assert fields["sku"] == ("T-1", "table: sku")
    assert fields["mpn"] == ("M-1", "label")
    assert fields["url"] == ("https://www.shop.nl/kettle", "link[rel=canonical]")


def test_a_button_that_refuses_to_sell_overrules_the_datas_stock() -> None:
    stocked = [claim(availability="InStock")]
    assert availability_of(stocked, content()) == (Availability.IN_STOCK, "json-ld/0/availability")
    refused = (Availability.OUT_OF_STOCK, "button: Sold out")
    assert availability_of(stocked, content(stock=refused)) == refused
    in_table = content(attributes={"stock": "Sold out"})
    assert availability_of([], in_table) == (Availability.OUT_OF_STOCK, "table: stock")


def test_a_product_without_a_price_still_tells_what_is_known_of_it() -> None:
    product = product_of(document(""), content(), candidates(claim(sku="K-1")), ("Kettle", "h1"), None)
    assert (product.title, product.sku, product.price, product.currency) == ("Kettle", "K-1", None, "EUR")
    assert product.places == {"sku": "json-ld/0/sku", "title": "h1", "url": "link[rel=canonical]"}
