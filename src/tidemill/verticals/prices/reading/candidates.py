"""Third step: every price that could be the product's, by claim and by sight, and the title that goes with it."""

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from tidemill.reading.document import Document
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.attempts import Notes, attempt
from tidemill.verticals.prices.reading.claims.attribute_prices import attribute_claim
from tidemill.verticals.prices.reading.claims.claim import PriceClaim, first_field
from tidemill.verticals.prices.reading.claims.script_data import script_claim
from tidemill.verticals.prices.reading.page_content import PageContent
from tidemill.verticals.prices.reading.page_data import PageData
from tidemill.verticals.prices.reading.shown.hints import NOT_THE_PRICE
from tidemill.verticals.prices.reading.shown.labelled_fields import without_code
from tidemill.verticals.prices.reading.shown.named_former import asked_after_all
from tidemill.verticals.prices.reading.shown.page_layout import heading_text, layout_of
from tidemill.verticals.prices.reading.shown.ranking import RankedPrice, rank_prices
from tidemill.verticals.prices.reading.shown.shown_prices import shown_prices

_SHORT_WORD = 3
_NO_TITLES = frozenset(
    word.replace("_", " ")
    for word in """
    shop webshop store online_store home homepage product products catalog catalogue product_details product_detail
    winkel startseite accueil inicio tienda boutique negozio untitled index cart our_products all_products onlineshop
    produkt produkte producten details item welcome checkout
    """.split()  # noqa: SIM905 - a table of words is read by lines
)
"""What pages and headings are called that have no title of their own."""
_NOTHING_SHOWN: Sequence[RankedPrice] = ()


class PriceCandidates(msgspec.Struct, frozen=True, kw_only=True):
    """The prices that data claims and those that the page shows, the likeliest first; `title` with its place."""

    claims: Sequence[PriceClaim]
    ranked: Sequence[RankedPrice]
    title: tuple[str, str]
    currency: str
    notes: Notes


def candidates_of(document: Document, data: PageData, content: PageContent) -> PriceCandidates:
    """All candidates; scripts and attributes are asked only where no other data claims a price."""
    claims, unreadable = _all_claims(document, data, content)
    claims = [claim for claim in claims if not _is_of_another(claim, document, content)]
    ranked, unranked = attempt(lambda: _ranked(document, data, content), _NOTHING_SHOWN)
    claims = [_in_whole_units(claim, ranked) for claim in claims]
    return PriceCandidates(
        claims=claims,
        ranked=ranked,
        title=title_of(claims, data, content),
        currency=data.currency or _commonest_currency(ranked) or _currency_elsewhere(document, ranked),
        notes=(*unreadable, *unranked),
    )


def _is_of_another(claim: PriceClaim, document: Document, content: PageContent) -> bool:
    """Whether a claim is about another product: its title shares no word with the heading, which the page's repeats."""
    heading = content.layout.heading
    own = _words(heading_text(heading)) if heading is not None else set()
    claimed = _words(claim.fields.get("title", ""))
    if not own or not claimed or claim.origin == "meta" or claimed & own:
        return False
    page = _words(document.title)
    return len(own & page) > len(claimed & page) and any(len(word) > _SHORT_WORD for word in own & page)


def _in_whole_units(claim: PriceClaim, ranked: Sequence[RankedPrice]) -> PriceClaim:
    """A claim of a script or an attribute, whose whole number is hundredths when the page shows a hundredth of it."""
    price = claim.price
    if price is None or price < _HUNDRED or price != int(price) or not claim.origin.startswith(("script", "markup")):
        return claim
    shown = {each.shown.amount for each in ranked if not each.aside and not each.shown.hints & NOT_THE_PRICE}
    if price in shown or price / _HUNDRED not in shown:
        return claim
    listed = claim.list_price / _HUNDRED if claim.list_price is not None else None
    return msgspec.structs.replace(claim, price=price / _HUNDRED, list_price=listed)


_HUNDRED = 100


def _words(text: str) -> set[str]:
    return {word for word in re.split(r"\W+", text.casefold()) if len(word) > 1}


def _all_claims(document: Document, data: PageData, content: PageContent) -> tuple[Sequence[PriceClaim], Notes]:
    """The data's claims; where none has a price, also those of scripts and attributes, which are trusted least."""
    if any(claim.price for claim in data.claims):
        return data.claims, ()
    title = title_of(data.claims, data, content)[0] or without_shop_name(document.title)
    script, no_script = attempt(lambda: script_claim(document, title, data.currency), None)
    attribute, no_attribute = attempt(lambda: attribute_claim(document, data.currency), None)
    further = [claim for claim in (script, attribute) if claim is not None]
    return [*data.claims, *further], (*no_script, *no_attribute)


def title_of(claims: Sequence[PriceClaim], data: PageData, content: PageContent) -> tuple[str, str]:
    """What the product is called, and where: in its data, else in the heading, else in the meta tags."""
    title, place = first_field((claim for claim in claims if claim.origin != "meta"), "title")
    if title:
        return title, place
    heading = content.layout.heading
    if heading is not None and (title := without_code(heading_text(heading))) and not names_no_product(title):
        return title, "h1"
    title = squash(data.tags.get("og:title") or data.tags.get("twitter:title") or "")
    return "" if names_no_product(title) else title, "meta/og:title"


def without_shop_name(title: str) -> str:
    """A page's title without the shop's name, which most put behind a sign."""
    return re.split(r"\s+[|\u2013\u2014:\u00b7-]\s+", squash(title), maxsplit=1)[0]


def names_no_product(title: str) -> bool:
    """Whether a title is what shops call any page: `Shop`, `Product details`."""
    return title.strip(" .:!").lower() in _NO_TITLES


def _ranked(document: Document, data: PageData, content: PageContent) -> Sequence[RankedPrice]:
    path = document.url.partition("://")[2].partition("/")[2].partition("?")[0]
    ranked = rank_prices(shown_prices(content.layout, data.currency), content.layout, f"/{path}".rstrip("/"))
    return asked_after_all(ranked)


def _currency_elsewhere(document: Document, ranked: Sequence[RankedPrice]) -> str:
    """The currency of other products on the page, where its own price names none."""
    if not ranked:
        return ""
    named = Counter(shown.money.currency for shown in shown_prices(layout_of(document)) if shown.money.currency)
    return named.most_common(1)[0][0] if named else ""


def _commonest_currency(ranked: Sequence[RankedPrice]) -> str:
    """The currency that most of the prices on the page are in."""
    named = Counter(each.shown.money.currency for each in ranked if each.shown.money.currency)
    return named.most_common(1)[0][0] if named else ""
