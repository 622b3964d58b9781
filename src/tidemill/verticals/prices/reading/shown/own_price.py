"""The element that is there for the product's price, when nothing in it can be read as one."""

import re

from tidemill.verticals.prices.reading.shown.hints import NOT_THE_PRICE, Hint
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout
from tidemill.verticals.prices.reading.shown.price_text import text_within
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason

_NEAR = 40
_LONGEST = 60
_FREE = re.compile(r"\W*(?:free|gratis|kostenlos|gratuit\w*|grátis|zdarma|0+(?:[.,]0+)?)\W*", re.IGNORECASE)


UnreadPrice = tuple[ExtractReason | QuarantineReason, str]


def unreadable_price(layout: PageLayout) -> UnreadPrice | None:
    """Why the product's own price element gives none, if there is one by the heading; the search ends there."""
    for element in layout.price_elements:
        if element.hints & (NOT_THE_PRICE | Hint.HIDDEN | Hint.OLD) or element.order - layout.heading_order > _NEAR:
            continue
        text = text_within(element.node)
        if _FREE.fullmatch(text):
            return QuarantineReason.ZERO_PRICE_EXTRACTED, f"the price says {text!r}"
        said = f"says {text[:_LONGEST]!r}, which is no price" if text else "is empty"
        return ExtractReason.PRICE_NOT_FOUND, f"the price element {said}"
    return None
