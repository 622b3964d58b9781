"""First step: what the data on a page claims about its product, before anybody looks at what the page shows."""

from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.urls import BadUrl, host_of
from tidemill.reading.currencies import currency_of_place
from tidemill.reading.document import Document
from tidemill.verticals.prices.reading.attempts import Notes, attempt
from tidemill.verticals.prices.reading.claims.claim import PriceClaim
from tidemill.verticals.prices.reading.claims.make_data import make_claims, named_currency
from tidemill.verticals.prices.reading.claims.meta_tags import is_product_page, meta_claim, tags_of
from tidemill.verticals.prices.reading.claims.platforms import is_of_known_make, platform_claim
from tidemill.verticals.prices.reading.claims.script_data import script_currency
from tidemill.verticals.prices.reading.claims.selected_variant import with_selected_variant
from tidemill.verticals.prices.reading.claims.structured_data import structured_claims

_NO_CLAIMS: tuple[Sequence[PriceClaim], int] = ((), 0)
_NOTHING_OF_MAKE: tuple[list[PriceClaim], list[PriceClaim]] = ([], [])
_NO_TAGS: Mapping[str, str] = {}


class PageData(msgspec.Struct, frozen=True, kw_only=True):
    """The claims of structured data, platform markup and meta tags, the best-trusted first.

    `listed` counts the products that the data lists beside the page's own; `currency` is the page's own as far as it
    is known; `is_product_page` says that the data calls the page a product's.
    """

    claims: Sequence[PriceClaim]
    listed: int
    tags: Mapping[str, str]
    currency: str
    is_product_page: bool
    notes: Notes


def data_of(document: Document, currency: str) -> PageData:
    """Read all data of the page; `currency` is the shop's own, '' if unknown."""
    (structured, listed), broken = attempt(lambda: structured_claims(document), _NO_CLAIMS)
    structured = [with_selected_variant(claim, document.url) for claim in structured]
    tags, no_tags = attempt(lambda: tags_of(document), _NO_TAGS)
    in_scripts, unreadable = attempt(lambda: named_currency(document) or script_currency(document), "")
    likely = currency or _claimed_currency(structured) or in_scripts or _currency_by_place(document)
    is_known, _ = attempt(lambda: is_of_known_make(document), False)  # noqa: FBT003 - what is used instead
    platform, no_platform = attempt(lambda: platform_claim(document, likely) if is_known else None, None)
    meta, no_meta = attempt(lambda: meta_claim(tags, document), None)
    (surer, further), no_make = attempt(lambda: make_claims(document, likely, is_known=is_known), _NOTHING_OF_MAKE)
    claims = [*surer, *structured, *(claim for claim in (platform,) if claim is not None), *further]
    claims += [meta] if meta is not None else []
    return PageData(
        claims=claims,
        listed=listed,
        tags=tags,
        currency=currency or _claimed_currency(claims) or likely,
        is_product_page=bool(structured) or is_product_page(tags) or _is_of_product(platform),
        notes=(*broken, *no_tags, *unreadable, *no_platform, *no_make, *no_meta),
    )


def _is_of_product(platform: PriceClaim | None) -> bool:
    """Whether a platform's markup tells a price or the stock: its other pages have neither."""
    return platform is not None and (platform.price is not None or "availability" in platform.fields)


def _claimed_currency(claims: Sequence[PriceClaim]) -> str:
    return next((claim.currency for claim in claims if claim.currency), "")


def _currency_by_place(document: Document) -> str:
    """The currency of the country that the page's address or language names."""
    node = document.first("html")
    language = (node.attributes.get("lang") or "") if node is not None else ""
    try:
        host = host_of(document.url) if document.url else ""
    except BadUrl:
        host = ""
    return currency_of_place(host, language)
