"""Dates that only the names of files tell: a board's list of agendas behind links that say `Agenda` or `March`."""

import re

from tidemill.reading.outline import Element
from tidemill.reading.setting import Setting
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.dating import Dated, moments_in
from tidemill.verticals.events.reading.heuristics.wording import is_title, stripped

_FILE = re.compile(r"(?:^|/)(?P<name>[^/?#]+)\.(?:pdf|docx?)(?:$|[?#])", re.IGNORECASE)
_BLANK = re.compile(r"%20|[_+\s]+")
_IN_DIGITS = re.compile(r"(?<!\d)(\d{1,2})[ .-](\d{1,2})[ .-]((?:20)?\d\d)(?!\d)")


def dates_in_file_names(elements: list[Element], setting: Setting) -> list[Leaf]:
    """The links to files whose names tell a day, where their words name nothing."""
    links = (element for element in elements if element.tag == "a" and not is_title(stripped(element.text)))
    return [Leaf(link, dated) for link in links if (dated := _dated(link, setting)) is not None]


def _dated(link: Element, setting: Setting) -> Dated | None:
    file = _FILE.search(link.attributes.get("href") or "")
    if file is None:
        return None
    name = _IN_DIGITS.sub(r"\1/\2/\3", _BLANK.sub(" ", file["name"]))
    found = moments_in(name, setting)
    return Dated(found[0][2], file["name"], f"{link.kind}@href") if found else None
