"""Days told by their number alone, under a heading that names the month: `November 2026`, then `vr 20`."""

import re

from tidemill.reading.moments import parse_moment
from tidemill.reading.moments.other_languages import MONTH_NAMES, WEEKDAY_NAMES
from tidemill.reading.moments.words import FULL_MONTHS, MONTHS, WEEKDAYS, any_of
from tidemill.reading.outline import HEADINGS, LINE, Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.dating import UNDER_MONTH, ElementDate
from tidemill.verticals.events.reading.heuristics.wording import years_in

_MONTHS = {name: MONTHS[short] for name, short in MONTH_NAMES.items() if len(name) > 3} | {  # noqa: PLR2004 - `set`, `mag`
    name: MONTHS[name] for name in FULL_MONTHS
}
"""Months by the names that may stand alone, in every language that we know."""
_MONTH = rf"(?P<month>{any_of(_MONTHS)})"
WEEKDAY = rf"(?:{any_of({*WEEKDAYS, *WEEKDAY_NAMES})})\b\.?"
_HEADING = re.compile(rf"{_MONTH}(?:\s+(?P<year>20\d\d))?", re.IGNORECASE)
_ENDS_IN_MONTH = re.compile(rf"[^\d]{{2,40}}\s{_MONTH}\s+(?P<year>20\d\d)", re.IGNORECASE)
"""`Meetings in July 2026`: a heading over the days of that month."""
_DAY = re.compile(rf"(?:{WEEKDAY},?\s*)?(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|e)?", re.IGNORECASE)
_NUMBERED_LINE = re.compile(
    rf"(?:{WEEKDAY},?\s*)?(?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th|e)?\s*(?:[-\u2013\u2014:|]\s*)?(?=[^\W\d_]{{2}}|\d{{1,2}}[:.]\d\d)",
    re.IGNORECASE,
)
_NAMES = ("jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec")
_LONGEST_HEADING, _LONGEST_DAY, _LONGEST_LINE = 20, 14, 200


def is_numbered(line: str) -> bool:
    """Whether a line begins with a number that may be a day of a month."""
    return _NUMBERED_LINE.match(line) is not None


def days_under_months(elements: list[Element], context: ReadingContext) -> list[Leaf]:
    """The elements that are, or begin with, a day's number under a month's name, as dates.

    A month without a year is of the year that a heading above names.
    """
    found: list[Leaf] = []
    month: re.Match[str] | None = None
    year = ""
    for element in elements:
        if month is None and element.children and element.tag not in HEADINGS:
            continue  # a heading that names a month has an element that says nothing else
        text = element.text
        if heading := _month_in(element):
            month = heading
        elif element.tag in HEADINGS and len(years := years_in(text)) == 1:
            year = str(next(iter(years)))
        elif month is not None and (day := _day_of(element)):
            leaf = _leaf(element, day, month, year, context)
            if leaf is not None:
                found.append(leaf)
    return found


def _month_in(element: Element) -> re.Match[str] | None:
    """The month that an element names and nothing else, or a heading at its end."""
    if len(element.text) <= _LONGEST_HEADING and (heading := _HEADING.fullmatch(element.text)):
        return heading
    return _ENDS_IN_MONTH.fullmatch(element.text) if element.tag in HEADINGS else None


def _day_of(element: Element) -> str:
    text = element.text
    is_whole = all(child.tag == "br" or not child.text for child in element.children)
    if len(text) <= _LONGEST_DAY and is_whole and (match := _DAY.fullmatch(text)):
        return match["day"]
    if len(text) > _LONGEST_LINE or (element.tag not in {"li", "p", LINE} and element.tag not in HEADINGS):
        return ""
    content = element.content[0] if element.content else ""
    line = _NUMBERED_LINE.match(text) if isinstance(content, str) and content.strip() else None
    return line["day"] if line else ""


def _leaf(element: Element, day: str, month: re.Match[str], year: str, context: ReadingContext) -> Leaf | None:
    number, year = _MONTHS[month["month"].lower()], month["year"] or year
    written = f"{day}-{number}-{year}" if year else f"{day} {_NAMES[number - 1]}"
    moment = parse_moment(written, context.now, context.time_zone, day_first=True)
    if moment is None:
        return None
    return Leaf(
        element, ElementDate(moment, f"{element.text[:_LONGEST_DAY]} {month[0]}", f"{element.kind}{UNDER_MONTH}")
    )


def is_in_row_of_month(element: Element) -> bool:
    """Whether a day's number stands in a row that begins with the month's name: no date picker has such rows."""
    row = element.parent
    while row is not None and row.tag not in {"tr", "table"}:
        row = row.parent
    first = row.children[0].text if row is not None and row.tag == "tr" and row.children else ""
    return len(first) <= _LONGEST_HEADING and _HEADING.fullmatch(first) is not None
