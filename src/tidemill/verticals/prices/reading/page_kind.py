"""Fourth step: whether a page sells a product, by its data, its buttons and its prices, or only lists some."""

import re
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from tidemill.reading.document import Document
from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reading.attempts import Notes, attempt
from tidemill.verticals.prices.reading.candidates import PriceCandidates
from tidemill.verticals.prices.reading.claims.claim import is_of_one_product
from tidemill.verticals.prices.reading.lists import listed_amounts
from tidemill.verticals.prices.reading.page_content import PageContent
from tidemill.verticals.prices.reading.page_data import PageData
from tidemill.verticals.prices.reading.shown.hints import NOT_THE_PRICE, PRICE_WORDS, Hint
from tidemill.verticals.prices.reading.shown.own_price import is_on_request
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout
from tidemill.verticals.prices.reading.shown.ranking import FAIR_SCORE, STRONG_SCORE, RankedPrice, crossed_out_price

_HOUR = re.compile(r"\b\d{1,2}:\d{2}\b(?!:)|\buur\b")
_RIGHT_UNDER = 6
"""Strings between a heading and what stands right under it: a brand, a star or two, a number of reviews."""


_A_HANDFUL = 2
_IDENTIFIERS = frozenset({"sku", "gtin", "mpn"})
_NONE_LISTED: Sequence[Decimal] = ()


class PageKind(msgspec.Struct, frozen=True, kw_only=True):
    """What the page is for.

    `sells` says that it offers something, or refuses to; `has_buy_button` that a button does; `is_list` that it lists
    products and has none of its own; `has_product_data` that its data is about a product, or lists some.
    """

    sells: bool
    has_buy_button: bool
    is_list: bool
    has_product_data: bool
    notes: Notes


def kind_of(document: Document, data: PageData, content: PageContent, candidates: PriceCandidates) -> PageKind:
    """Decide what the page is for."""
    buyable = has_buy_button(content.layout)
    is_of_one = any(map(is_of_one_product, candidates.claims))
    is_list, notes = (False, ()) if is_of_one else _is_list(document, data, content, candidates, buyable=buyable)
    return PageKind(
        sells=buyable
        or is_on_request(content.layout)
        or _is_called_product(data, content)
        or _shows_product(content, candidates),
        has_buy_button=buyable,
        is_list=is_list,
        has_product_data=is_of_one or data.listed > 0,
        notes=notes,
    )


def _is_called_product(data: PageData, content: PageContent) -> bool:
    return data.is_product_page or content.stock[0] is Availability.OUT_OF_STOCK


def _shows_product(content: PageContent, candidates: PriceCandidates) -> bool:
    is_identified = bool(content.labels.keys() & _IDENTIFIERS) or content.stock[0] is not Availability.UNKNOWN
    return shows_a_product(candidates.ranked, content.layout, is_identified=is_identified)


def _is_list(
    document: Document, data: PageData, content: PageContent, candidates: PriceCandidates, *, buyable: bool
) -> tuple[bool, Notes]:
    """Whether a page without data of a product of its own lists products, and shows none for sale by itself."""
    own = [each for each in candidates.ranked if not each.aside and each.score >= FAIR_SCORE]
    if own and buyable:
        return False, ()
    listed, notes = attempt(lambda: listed_amounts(document), _NONE_LISTED)
    plain = (each for each in own if each.shown.hints & Hint.PRICE or is_alone_under_heading(each, content.layout))
    if (best := next(plain, None)) is not None and best.shown.amount not in listed:
        return False, notes
    return data.listed > _A_HANDFUL or bool(listed), notes


def has_buy_button(layout: PageLayout) -> bool:
    """Whether a button of the page itself sells."""
    return any(button.sells and not button.hints & Hint.ASIDE for button in layout.buttons)


def shows_a_product(ranked: Sequence[RankedPrice], layout: PageLayout, *, is_identified: bool) -> bool:
    """Whether the prices on a page are a product's, though no button sells it: those may come with a script.

    Markup is named for a price by the heading, a price is called one, stands alone right under the heading, or has a
    crossed-out one beside it; any price will do where the page `is_identified` as an article's, by number or stock.
    """
    own = [each for each in ranked if not each.aside and not each.shown.hints & (NOT_THE_PRICE | Hint.OLD)]
    fair = [each for each in own if each.score >= FAIR_SCORE]
    if fair and is_identified:
        return True
    return any(
        _has_price_class(each)
        or is_alone_under_heading(each, layout)
        or _has_price_label(each)
        or _has_former_price(each, ranked)
        for each in fair
    )


def _has_price_class(each: RankedPrice) -> bool:
    return bool(each.shown.hints & Hint.PRICE) and each.score >= STRONG_SCORE


def is_alone_under_heading(each: RankedPrice, layout: PageLayout) -> bool:
    """Whether a price is all that its element says, and the heading is right above it, with no hour in between.

    Under an hour it is what an evening costs, not a thing.
    """
    behind = each.shown.order - layout.heading_order
    if layout.heading_order < 0 or not 0 < behind <= _RIGHT_UNDER or not each.shown.alone:
        return False
    between = layout.texts[layout.heading_order : each.shown.order]
    return not any(_HOUR.search(text_node.text) for text_node in between)


def _has_price_label(each: RankedPrice) -> bool:
    return PRICE_WORDS.search(each.shown.label) is not None


def _has_former_price(each: RankedPrice, ranked: Sequence[RankedPrice]) -> bool:
    return each.shown.alone and crossed_out_price(ranked, each.shown.amount) is not None
