"""What a page shows of a product's stock: an element that is named for it, or a button that sells or refuses."""

from tidemill.reading.stock import Availability, availability_in, stock_line
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.landmarks import Landmarks
from tidemill.verticals.prices.reading.marks import Mark
from tidemill.verticals.prices.reading.price_text import text_within

_LONGEST = 120
_SHORT, _UNDER_THE_HEADING = 40, 120
_UNSAID = Availability.UNKNOWN


def shown_stock(found: Landmarks) -> tuple[Availability, str]:
    """The stock that the page's own notices and buttons tell, and where; a button that sells says that it is there."""
    refused = _refusing(found)
    if refused:
        return Availability.OUT_OF_STOCK, refused
    for notice in found.notices:
        if notice.marks & (Mark.ASIDE | Mark.HIDDEN):
            continue
        text = text_within(notice.node)
        said = availability_in(text) if len(text) <= _LONGEST else _UNSAID
        if said is _UNSAID and not text:
            said = _named(notice.names)
        if said is not _UNSAID:
            return said, f"notice: {text or notice.names.strip()}"[:100]
    for button in found.buttons:
        if button.sells and button.enabled and not button.marks & (Mark.ASIDE | Mark.HIDDEN):
            return (availability_in(button.text) if "order" in button.text.lower() else Availability.IN_STOCK) \
                or Availability.IN_STOCK, f"button: {button.text}"  # fmt: skip
    return _said_in_words(found)


def _said_in_words(found: Landmarks) -> tuple[Availability, str]:
    """What a short line under the heading says of the stock and of little else."""
    if found.heading_order < 0:
        return _UNSAID, ""
    for word in found.words:
        near = found.heading_order < word.order <= found.heading_order + _UNDER_THE_HEADING
        if near and len(word.text) <= _SHORT and not word.marks & (Mark.ASIDE | Mark.HIDDEN | Mark.CHOICE):
            said = stock_line(squash(word.text))
            if said is not _UNSAID:
                return said, f"words: {squash(word.text)}"
    return _UNSAID, ""


def _refusing(found: Landmarks) -> str:
    """The words of a button that refuses to sell, where no other sells."""
    buttons = [button for button in found.buttons if not button.marks & (Mark.ASIDE | Mark.HIDDEN)]
    if any(
        button.sells and button.enabled and availability_in(button.text) is not Availability.OUT_OF_STOCK
        for button in buttons
    ):
        return ""
    return next(
        (f"button: {button.text}" for button in buttons if availability_in(button.text) is Availability.OUT_OF_STOCK),
        "",
    )


def _named(names: str) -> Availability:
    """The stock that an empty element is named for: `in-stock`, `out-of-stock`."""
    for name in names.split():
        said = availability_in(name.replace("-", " ").replace("_", " "))
        if said is not _UNSAID and name.lower() not in {"availability", "available", "stock"}:
            return said
    return _UNSAID
