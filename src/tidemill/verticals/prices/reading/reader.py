"""Reading a product page, step by step: data, content, candidates, kind of page, price, product.

Each step is a function from the values before it to one frozen value.
"""

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document
from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reading.attempts import Notes, attempt
from tidemill.verticals.prices.reading.candidates import (
    PriceCandidates,
    candidates_of,
    names_no_product,
    without_shop_name,
)
from tidemill.verticals.prices.reading.claims.claim import first_field
from tidemill.verticals.prices.reading.page_content import PageContent, content_of
from tidemill.verticals.prices.reading.page_data import data_of
from tidemill.verticals.prices.reading.page_kind import PageKind, kind_of
from tidemill.verticals.prices.reading.pricing import ChosenPrice, chosen_price
from tidemill.verticals.prices.reading.product import NoOffer, Product, ProductReading
from tidemill.verticals.prices.reading.product_fields import product_of
from tidemill.verticals.prices.reading.shown.own_price import UnreadPrice, unreadable_price
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason


def read_product(page: Document | str | bytes, url: str = "", *, currency: str = "") -> ProductReading:
    """The product that a page sells, with its price; or the reason why there is none. Never raises.

    `currency` (ISO) is the shop's own, for pages that name none or only `$`; else the page's address and language
    decide. A price is only ever one that stands on the page.
    """
    document = page if isinstance(page, Document) else Document(page, url)
    if not document.markup.strip():
        return NoOffer(ExtractReason.EMPTY_PAGE, "no content at all")
    data = data_of(document, currency)
    content = content_of(document, first_field(data.claims, "title")[0])
    candidates = candidates_of(document, data, content)
    kind = kind_of(document, data, content, candidates)
    price, unpriced = price_of(document, content, candidates, kind)
    title = candidates.title if candidates.title[0] else page_title(document, candidates, kind, price)
    product, incomplete = attempt(
        lambda: product_of(document, content, candidates, title, price), Product(title=title[0])
    )
    if price is not None:
        return _offered(product, price)
    notes = (*data.notes, *content.notes, *candidates.notes, *kind.notes, *unpriced, *incomplete)
    return _without_price(document, kind, product, notes, unreadable_price(content.layout))


def price_of(
    document: Document, content: PageContent, candidates: PriceCandidates, kind: PageKind
) -> tuple[ChosenPrice | None, Notes]:
    """The product's price; None on a list of products, and for a price of nothing on a blocked page."""
    if kind.is_list:
        return None, ()
    chosen, notes = attempt(lambda: chosen_price(candidates, content, sells=kind.sells), None)
    if chosen is not None and not chosen.amount and _refusal(document, kind) is not None:
        return None, notes
    return chosen, notes


def page_title(
    document: Document, candidates: PriceCandidates, kind: PageKind, price: ChosenPrice | None
) -> tuple[str, str]:
    """The page's own title, where it must be the product's, and its place.

    Data with a price and no title may be about anything on the page: there only a button that sells will do.
    """
    claims_price = any(claim.price and claim.origin.startswith(("json-ld", "microdata")) for claim in candidates.claims)
    is_products = kind.has_buy_button if claims_price else price is not None or kind.sells
    title = without_shop_name(document.title)
    return (title, "title") if is_products and not names_no_product(title) else candidates.title


def _offered(product: Product, price: ChosenPrice) -> ProductReading:
    if price.rivals:
        return NoOffer(QuarantineReason.AMBIGUOUS_PRICE, "several prices, and no rule to choose", product)
    if not product.title:
        return NoOffer(ExtractReason.TITLE_NOT_FOUND, "a price, but no title", product)
    if not price.amount:
        return NoOffer(QuarantineReason.ZERO_PRICE_EXTRACTED, price.place, product)
    return product


def _without_price(
    document: Document, kind: PageKind, product: Product, notes: Notes, unread: UnreadPrice | None
) -> NoOffer:
    refusal = _refusal(document, kind)
    if refusal is not None:
        empty = refusal.failure is Failure.EMPTY_PAGE
        return NoOffer(ExtractReason.EMPTY_PAGE if empty else ExtractReason.BLOCKED_PAGE, refusal.detail)
    if kind.is_list:
        return NoOffer(ExtractReason.PAGE_STRUCTURE_CHANGED, "a list of products, and no product of its own")
    return _not_offered(kind, product, "; ".join(notes), unread)


def _not_offered(kind: PageKind, product: Product, noted: str, unread: UnreadPrice | None) -> NoOffer:
    """Why a page with something on it has no price: no product, none left, no title, or a price nobody can read."""
    if not kind.sells:
        return NoOffer(ExtractReason.PAGE_STRUCTURE_CHANGED, f"no product on the page; {noted}".strip("; "), product)
    if product.availability is Availability.OUT_OF_STOCK:
        return NoOffer(ExtractReason.OOS_NO_PRICE, product.places.get("availability", ""), product)
    if not product.title:
        return NoOffer(ExtractReason.TITLE_NOT_FOUND, noted, product)
    if unread is not None:
        return NoOffer(*unread, product)
    return NoOffer(ExtractReason.PRICE_NOT_FOUND, f"a product, and no price; {noted}".strip("; "), product)


def _refusal(document: Document, kind: PageKind) -> Fail | None:
    """Why the page is none: blocked or empty; one with a product's data is a page, however little else it shows."""
    return None if kind.has_product_data else blocked(document)
