"""What a page shows of a product's stock: an element that is named for it, or a button that sells or refuses."""

import re
from collections.abc import Sequence

from tidemill.reading.stock import Availability, availability_in, stock_line
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.shown.hints import Hint
from tidemill.verticals.prices.reading.shown.page_layout import Button, PageLayout
from tidemill.verticals.prices.reading.shown.price_text import text_within

_LONGEST = 120
_SHORT, _UNDER_THE_HEADING = 40, 120
_UNKNOWN = Availability.UNKNOWN
_ASKS = re.compile(r"[?؟？]")
"""A question tells nothing: `Sold out in your size? Tell me when it is back`."""


def shown_stock(layout: PageLayout) -> tuple[Availability, str]:
    """The stock that the page's own notices and buttons tell, and where; a button that sells says that it is there."""
    refused = _refusal_text(layout)
    if refused:
        return Availability.OUT_OF_STOCK, refused
    for notice in layout.stock_elements:
        if notice.hints & (Hint.ASIDE | Hint.HIDDEN):
            continue
        text = text_within(notice.node)
        availability = availability_in(text) if len(text) <= _LONGEST and not _ASKS.search(text) else _UNKNOWN
        if availability is _UNKNOWN and not text:
            availability = _stock_in_names(notice.names)
        if availability is not _UNKNOWN:
            return availability, f"notice: {text or notice.names.strip()}"[:100]
    in_text = _stock_in_text(layout)
    if in_text[0] is Availability.BACKORDER:
        return in_text
    for button in layout.buttons:
        if button.sells and button.enabled and not button.hints & (Hint.ASIDE | Hint.HIDDEN):
            return (availability_in(button.text) if "order" in button.text.lower() else Availability.IN_STOCK) \
                or Availability.IN_STOCK, f"button: {button.text}"  # fmt: skip
    return in_text


def own_buttons(layout: PageLayout) -> Sequence[Button]:
    """The page's buttons but those of other products; none, where the first that sells under the heading is off.

    Then those further down sell something else, or the same as little.
    """
    own = [button for button in layout.buttons if not button.hints & (Hint.ASIDE | Hint.HIDDEN)]
    under = next((button for button in own if button.sells and button.order > layout.heading_order), None)
    return own if under is None or under.enabled or layout.heading_order < 0 else ()


def _stock_in_text(layout: PageLayout) -> tuple[Availability, str]:
    """What a short line under the heading says of the stock and of little else."""
    if layout.heading_order < 0:
        return _UNKNOWN, ""
    for text_node in layout.texts:
        is_near = layout.heading_order < text_node.order <= layout.heading_order + _UNDER_THE_HEADING
        if (
            is_near
            and len(text_node.text) <= _SHORT
            and not text_node.hints & (Hint.ASIDE | Hint.HIDDEN | Hint.VARIANT)
        ):
            availability = stock_line(squash(text_node.text))
            if availability is not _UNKNOWN:
                return availability, f"words: {squash(text_node.text)}"
    return _UNKNOWN, ""


def _refusal_text(layout: PageLayout) -> str:
    """The words of a button that refuses to sell, where no other sells."""
    buttons = [button for button in layout.buttons if not button.hints & (Hint.ASIDE | Hint.HIDDEN)]
    if any(
        button.sells and button.enabled and availability_in(button.text) is not Availability.OUT_OF_STOCK
        for button in buttons
    ):
        return ""
    return next(
        (f"button: {button.text}" for button in buttons if availability_in(button.text) is Availability.OUT_OF_STOCK),
        "",
    )


def _stock_in_names(names: str) -> Availability:
    """The stock that an empty element is named for: `in-stock`, `out-of-stock`."""
    for name in names.split():
        availability = availability_in(name.replace("-", " ").replace("_", " "))
        if availability is not _UNKNOWN and name.lower() not in {"availability", "available", "stock"}:
            return availability
    return _UNKNOWN
