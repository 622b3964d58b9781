"""Days told by their number alone, under a heading that names the month: `November 2026`, then `vr 20`."""

import re

from tidemill.reading.heuristics.blocks import Leaf
from tidemill.reading.heuristics.dating import Dated
from tidemill.reading.heuristics.outline import Element
from tidemill.reading.moments import parse_moment
from tidemill.reading.moments.words import FULL_MONTHS, MONTHS, WEEKDAY, any_of
from tidemill.reading.setting import Setting

_HEADING = re.compile(rf"(?P<month>{any_of(FULL_MONTHS)})(?:\s+(?P<year>20\d\d))?", re.IGNORECASE)
_DAY = re.compile(rf"(?:{WEEKDAY},?\s*)?(?P<day>\d{{1,2}})\.?", re.IGNORECASE)
_LONGEST_HEADING, _LONGEST_DAY = 20, 14


def days_under_months(elements: list[Element], setting: Setting) -> list[Leaf]:
    """The elements that are a day's number under a month's name, as dates; none where no heading names a month."""
    found: list[Leaf] = []
    month: re.Match[str] | None = None
    for element in elements:
        text = element.text
        if len(text) <= _LONGEST_HEADING and (heading := _HEADING.fullmatch(text)):
            month = heading
        elif month is not None and len(text) <= _LONGEST_DAY and not element.children and (day := _DAY.fullmatch(text)):
            leaf = _leaf(element, day["day"], month, setting)
            if leaf is not None:
                found.append(leaf)
    return found


def _leaf(element: Element, day: str, month: re.Match[str], setting: Setting) -> Leaf | None:
    number = MONTHS[month["month"].lower()]
    written = f"{day}-{number}-{month['year']}" if month["year"] else f"{day} {month['month']}"
    moment = parse_moment(written, setting.now, setting.time_zone, day_first=True)
    if moment is None:
        return None
    return Leaf(element, Dated(moment, f"{element.text} {month[0]}", f"{element.kind}@month"))
