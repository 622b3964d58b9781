"""SGAmmo: a shop of WooCommerce make, whose markup is known and watched; the first retailer."""

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.vertical import Context
from tidemill.reading.document import Document
from tidemill.verticals.prices.reading import NoOffer, Product, read_product
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason
from tidemill.verticals.prices.sources.raw_offers import adapter_answer, failed, is_markup

PRODUCT = "div.product, body.single-product"
"""What every product page of the shop has; a page without it is another page."""
TITLE = "h1.product_title, h1.entry-title"
PRICE = ".summary .price, p.price"


class SGAmmo:
    """Reads SGAmmo's product pages, and only pages that still look as SGAmmo's do."""

    id = "prices.sgammo"
    version = "1.2.0"
    domain = "sgammo.com"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:  # noqa: ARG002 - the shop is known: nothing is left to settings
        """The page's offer; where the title has moved, general rules read it and a note says so."""
        if not is_markup(page.content_type):
            return Fail(Failure.NOT_HTML, page.content_type)
        document, signature = Document.of(page), f"{self.id}@{self.version}"
        reading = read_product(document, currency="USD")
        if document.first(PRODUCT) is None:
            return adapter_answer(_unknown_layout(reading), page, signature)
        missed = "" if document.first(TITLE) is not None else TITLE
        if missed and not isinstance(reading, Product):
            return failed(ExtractReason.SELECTOR_NOT_FOUND, TITLE)
        if isinstance(reading, Product) and document.first(PRICE) is None:
            reading = msgspec.structs.replace(reading, doubt=QuarantineReason.SELECTOR_FAILURE)
        answer = adapter_answer(reading, page, signature)
        if missed and isinstance(answer, Found):
            return msgspec.structs.replace(answer, notes=(*answer.notes, f"read by general rules: none of {missed}"))
        return answer


def _unknown_layout(reading: Product | NoOffer) -> NoOffer:
    """A page that is not made as the shop's product pages are, whatever else can be read on it."""
    if isinstance(reading, NoOffer) and reading.reason in {ExtractReason.BLOCKED_PAGE, ExtractReason.EMPTY_PAGE}:
        return reading
    return NoOffer(ExtractReason.PAGE_STRUCTURE_CHANGED, f"none of {PRODUCT}")
