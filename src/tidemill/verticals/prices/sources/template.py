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
from tidemill.core.record import Found, Reading
from tidemill.core.vertical import Context
from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document
from tidemill.reading.selectors import read_selectors
from tidemill.reading.stock import Availability, availability_in
from tidemill.verticals.prices.reasons import ExtractReason
from tidemill.verticals.prices.sources.raw_offers import currency_of, failed, is_markup, was_redirected

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
        if (refusal := blocked(document)) is not None:
            return refusal
        if lacking := _lacking(fields):
            return failed(ExtractReason.PAGE_STRUCTURE_CHANGED if was_redirected(page) else lacking, _WORDS[lacking])
        fields |= {"adapter": f"{self.id}@{self.version}"}
        if currency := currency_of(context):
            fields.setdefault("currency", currency)
        return Found(records=[msgspec.structs.replace(records[0], fields=fields)])


def _lacking(fields: Mapping[str, Any]) -> ExtractReason | None:
    """What no offer can do without and the selectors did not find; a price may be missing where the stock is."""
    if not fields:
        return ExtractReason.SELECTOR_NOT_FOUND
    if not fields.get("title"):
        return ExtractReason.TITLE_NOT_FOUND
    gone = availability_in(str(fields.get("availability", ""))) is Availability.OUT_OF_STOCK
    return None if fields.get("price") or gone else ExtractReason.PRICE_NOT_FOUND


_WORDS = {
    ExtractReason.SELECTOR_NOT_FOUND: "none of the selectors finds anything",
    ExtractReason.TITLE_NOT_FOUND: "the title's selectors find nothing",
    ExtractReason.PRICE_NOT_FOUND: "the price's selectors find nothing",
}
