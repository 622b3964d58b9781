"""Dates that only the names of files tell: a board's list of agendas behind links that say `Agenda` or `March`."""

import re

from tidemill.reading.outline import Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.dating import ElementDate, moments_in
from tidemill.verticals.events.reading.heuristics.wording import is_title, without_dates

_FILE = re.compile(r"(?:^|/)(?P<name>[^/?#]+)\.(?:pdf|docx?)(?:$|[?#])", re.IGNORECASE)
_BLANK = re.compile(r"%20|[_+\s]+")
_IN_DIGITS = re.compile(r"(?<!\d)(\d{1,2})[ .-](\d{1,2})[ .-]((?:20)?\d\d)(?!\d)")


def dates_in_file_names(elements: list[Element], context: ReadingContext) -> list[Leaf]:
    """The links to files whose names tell a day, where their words name nothing."""
    links = (element for element in elements if element.tag == "a" and not is_title(without_dates(element.text)))
    return [Leaf(link, date) for link in links if (date := _dated(link, context)) is not None]


def _dated(link: Element, context: ReadingContext) -> ElementDate | None:
    file = _FILE.search(link.attributes.get("href") or "")
    if file is None:
        return None
    name = _IN_DIGITS.sub(r"\1/\2/\3", _BLANK.sub(" ", file["name"]))
    found = moments_in(name, context)
    return ElementDate(found[0][2], file["name"], f"{link.kind}@href") if found else None
