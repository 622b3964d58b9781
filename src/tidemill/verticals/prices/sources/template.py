"""The adapter to begin a new one from: selectors that a person writes down, and nothing beside them.

Copy it, name its shop in `domain`, put its selectors into `SELECTORS`, and save pages of it as golden files. It
also runs as it stands, on selectors in the source's settings, for shops that need no code.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.reasons import ExtractReason
from tidemill.core.record import Found, RawRecord, Reading
from tidemill.core.vertical import Context
from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document
from tidemill.reading.selectors import read_selectors
from tidemill.reading.stock import Availability, availability_in
from tidemill.verticals.prices.sources.reading_page import currency_of, failed, is_markup

SELECTORS: Mapping[str, Any] = {
    "title": "h1",
    "price": ["[itemprop=price]@content", ".price ins", ".price"],
    "availability": [".stock", ".availability"],
    "sku": "[itemprop=sku]",
    "image": "[itemprop=image]@src",
}
"""Where each field stands; of a list the first that yields something is taken."""


class Template:
    """Reads only what selectors point at, so that drift shows at once."""

    id = "prices.template"
    version = "1.0.0"
    domain = "*"
    needs_browser = False

    def read(self, page: Page, context: Context) -> Reading:
        """The page's offer by its selectors; each that finds nothing is named."""
        if not is_markup(page.content_type):
            return Fail(Failure.NOT_HTML, page.content_type)
        document = Document.of(page)
        given = context.source.adapter_settings.get("selectors")
        try:
            records = read_selectors(document, given if isinstance(given, Mapping) else SELECTORS)
        except ValueError as error:
            return Fail(Failure.ADAPTER_CRASHED, str(error))
        fields = dict(records[0].fields) if records else {}
        return self._told(document, fields, records, context)

    def _told(self, document: Document, fields: dict[str, Any], records: list[RawRecord], context: Context) -> Reading:
        if (refusal := blocked(document)) is not None:
            return refusal
        if not fields:
            return failed(ExtractReason.SELECTOR_NOT_FOUND, "none of the selectors finds anything")
        if not fields.get("title"):
            return failed(ExtractReason.TITLE_NOT_FOUND, "the title's selectors find nothing")
        gone = availability_in(str(fields.get("availability", ""))) is Availability.OUT_OF_STOCK
        if not fields.get("price") and not gone:
            return failed(ExtractReason.PRICE_NOT_FOUND, "the price's selectors find nothing")
        fields |= {"adapter": f"{self.id}@{self.version}"}
        if currency := currency_of(context):
            fields.setdefault("currency", currency)
        return Found(records=[msgspec.structs.replace(records[0], fields=fields)])
