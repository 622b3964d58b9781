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
    sells = any(_is_for_sale(button) for button in layout.buttons)
    for notice in layout.stock_elements:
        if notice.hints & (Hint.ASIDE | Hint.HIDDEN) or (sells and _BADGE.search(notice.names)):
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
        if _is_for_sale(button):
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
        if not is_near or text_node.hints & (Hint.ASIDE | Hint.HIDDEN | Hint.VARIANT):
            continue
        sentence = _first_sentence(text_node.text)
        if sentence and (availability := stock_line(sentence)) is not _UNKNOWN:
            return availability, f"words: {sentence}"
    return _UNKNOWN, ""


def _first_sentence(text: str) -> str:
    """What a short line says, or the first sentence of a longer one."""
    if len(text) > _LONGEST:
        return ""
    line = squash(text)
    sentence = line if len(line) <= _SHORT else line.partition(". ")[0]
    return sentence if len(sentence) <= _SHORT else ""


def _is_for_sale(button: Button) -> bool:
    return button.sells and button.enabled and not button.hints & (Hint.ASIDE | Hint.HIDDEN)


def _refusal_text(layout: PageLayout) -> str:
    """The words of a button that refuses to sell, where no other sells."""
    buttons = [button for button in layout.buttons if not button.hints & (Hint.ASIDE | Hint.HIDDEN)]
    if any(
        button.sells and button.enabled and availability_in(button.text) is not Availability.OUT_OF_STOCK
        for button in buttons
    ):
        return ""
    return next(
        (
            f"button: {button.text}"
            for button in buttons
            if availability_in(button.text) is Availability.OUT_OF_STOCK or _TELLS_LATER.match(button.text)
        ),
        "",
    )


_TELLS_LATER = re.compile(
    r"(?:notify me|e?-?mail me|text me|alert me|let me know)(?!.*\b(?:price|deal|sale|offer))\b|"
    r"join (?:the )?wait(?:ing)? ?list|add (?:me )?to wait ?list|(?:get )?back[- ]in[- ]stock|"
    r"(?:me )?pr[ée]ven(?:ir|ez[- ]moi)|benachrichtig|mail mij|houd (?:me|mij) op de hoogte|av[íi]same|avvisami|"
    r"powiadom",
    re.IGNORECASE,
)
"""What a button offers where nothing can be bought: to tell people when it can."""
_BADGE = re.compile(r"badge", re.IGNORECASE)
"""Themes write each badge into the page and show the right one by style."""


def _stock_in_names(names: str) -> Availability:
    """The stock that an empty element is named for: `in-stock`, `out-of-stock`."""
    for name in names.split():
        availability = availability_in(name.replace("-", " ").replace("_", " "))
        if availability is not _UNKNOWN and name.lower() not in {"availability", "available", "stock"}:
            return availability
    return _UNKNOWN
