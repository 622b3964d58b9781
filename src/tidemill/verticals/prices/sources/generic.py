"""The adapter for any shop: schema.org's data, its platform's markup, then a good look at the page."""

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Reading
from tidemill.core.vertical import Context
from tidemill.reading.document import Document
from tidemill.reading.page_answer import page_answer
from tidemill.verticals.prices.reading import read_product, read_products, unpriced_products
from tidemill.verticals.prices.reasons import ExtractReason
from tidemill.verticals.prices.sources.raw_offers import adapter_answer, currency_of, failed, is_markup, raw_offers


class GenericShopAdapter:
    """Reads a product page of any make; or, with `page: list` in the source's settings, a list of products.

    Further settings: `currency` (ISO), which prices must be in, and `retailer`, the shop's own name.
    """

    id = "prices.generic"
    version = "1.2.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """The page's offer, or the reason why there is none."""
        if not is_markup(page.content_type):
            return Fail(Failure.NOT_HTML, page.content_type)
        document, signature = Document.of(page), f"{self.id}@{self.version}"
        currency = currency_of(context)
        reading = read_product(document, currency=currency)
        if context.source.adapter_settings.get("page") != "list":
            return adapter_answer(reading, page, signature)
        products = read_products(document, currency=currency)
        if products:
            listed = [*products, *unpriced_products(document)]
            return page_answer(document, raw_offers(listed, signature), total=None, next_url=None)
        return failed(ExtractReason.PAGE_STRUCTURE_CHANGED, "no list of products")
