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
from tidemill.verticals.prices.reading.shown.labelled_fields import without_code
from tidemill.verticals.prices.reading.shown.page_layout import heading_text
from tidemill.verticals.prices.reading.shown.ranking import RankedPrice, rank_prices
from tidemill.verticals.prices.reading.shown.shown_prices import shown_prices

_SHORT_WORD = 3
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
    return PriceCandidates(
        claims=claims,
        ranked=ranked,
        title=title_of(claims, data, content),
        currency=data.currency or _commonest_currency(ranked),
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


def _words(text: str) -> set[str]:
    return {word for word in re.split(r"\W+", text.casefold()) if len(word) > 1}


def _all_claims(document: Document, data: PageData, content: PageContent) -> tuple[Sequence[PriceClaim], Notes]:
    """The data's claims; where none has a price, also those of scripts and attributes, which are trusted least."""
    if any(claim.price for claim in data.claims):
        return data.claims, ()
    title, _ = title_of(data.claims, data, content)
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
    if heading is not None and (title := without_code(heading_text(heading))):
        return title, "h1"
    return squash(data.tags.get("og:title") or data.tags.get("twitter:title") or ""), "meta/og:title"


def _ranked(document: Document, data: PageData, content: PageContent) -> Sequence[RankedPrice]:
    path = document.url.partition("://")[2].partition("/")[2].partition("?")[0]
    return rank_prices(shown_prices(content.layout, data.currency), content.layout, f"/{path}".rstrip("/"))


def _commonest_currency(ranked: Sequence[RankedPrice]) -> str:
    """The currency that most of the prices on the page are in."""
    named = Counter(each.shown.money.currency for each in ranked if each.shown.money.currency)
    return named.most_common(1)[0][0] if named else ""
