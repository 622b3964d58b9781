"""Month calendars: a grid of days in which some cells hold events."""

import re
from itertools import pairwise

from tidemill.core.record import RawRecord
from tidemill.reading.moments import Grain, Moment, parse_moment
from tidemill.reading.moments.words import FULL_MONTHS, MONTHS, any_of
from tidemill.reading.outline import Element
from tidemill.verticals.events.reading.heuristics.context import is_heading
from tidemill.verticals.events.reading.heuristics.fields import title_of
from tidemill.verticals.events.reading.heuristics.record_builder import RecordBuilder
from tidemill.verticals.events.reading.heuristics.wording import is_title, title_from

_A_MONTH, _A_WEEK = 25, 7
"""So many numbered cells are a month whatever stands between; a week's must follow one another."""
_NUMBER = re.compile(r"^(?P<day>\d{1,2})(?!\d|[:./-]\d|\s*(?:uur|am|pm))\b")
_MONTH = re.compile(rf"\b(?P<month>{any_of(FULL_MONTHS)})\s+(?P<year>20\d\d)\b", re.IGNORECASE)


def from_grids(elements: list[Element], builder: RecordBuilder) -> list[RawRecord]:
    """The events of a table whose cells are numbered as the days of a month that a heading names."""
    for table in elements:
        if table.tag != "table":
            continue
        cells = [cell for cell in table.walk() if cell.tag == "td"]
        numbered = [cell for cell in cells if _NUMBER.match(cell.text)]
        month = _month_of(table, elements) if _is_calendar(numbered) else None
        if month is not None:
            return [record for cell in _of_month(numbered) for record in _of_cell(cell, month, builder)]
    return []


def _is_calendar(numbered: list[Element]) -> bool:
    days = [int(_NUMBER.match(cell.text)["day"]) for cell in numbered]  # type: ignore[index]
    in_turn = all(after == before + 1 or after == 1 for before, after in pairwise(days))
    return len(days) >= _A_MONTH or (len(days) >= _A_WEEK and in_turn)


def _month_of(table: Element, elements: list[Element]) -> tuple[int, int] | None:
    inside = _MONTH.search(table.text[:200])
    if inside is not None:
        return int(inside["year"]), MONTHS[inside["month"].lower()]
    before = [element for element in elements if element.order < table.order and len(element.text) < 60]  # noqa: PLR2004
    for element in reversed(before):
        match = _MONTH.search(element.text)
        if match is not None and (is_heading(element) or len(element.text) < 30):  # noqa: PLR2004 - no more than a title
            return int(match["year"]), MONTHS[match["month"].lower()]
    return None


def _of_month(numbered: list[Element]) -> list[Element]:
    """The cells of the month itself: from the first 1 up to where the numbers start again."""
    days = [int(_NUMBER.match(cell.text)["day"]) for cell in numbered]  # type: ignore[index]
    first = days.index(1) if 1 in days else 0
    last = next((place for place in range(first + 1, len(days)) if days[place] < days[place - 1]), len(days))
    return numbered[first:last]


def _of_cell(cell: Element, month: tuple[int, int], builder: RecordBuilder) -> list[RawRecord]:
    number = _NUMBER.match(cell.text)
    if number is None:
        return []
    day = f"{month[0]:04}-{month[1]:02}-{int(number['day']):02}"
    context, records = builder.context, []
    items = [link for link in cell.walk() if link.tag == "a" and is_title(title_from(link.text))] or [cell]
    for item in items:
        title, element = (title_from(item.text), item) if item is not cell else title_of(cell)
        title = _NUMBER.sub("", title).strip()
        if not title:
            continue
        text = (item.parent.text if item is not cell and item.parent is not None and len(items) > 1 else cell.text)[
            :300
        ]
        moment = parse_moment(f"{day} {_NUMBER.sub('', text)}", context.now, context.time_zone, context.language)
        if moment is None or moment.day.isoformat() != day or moment.grain is not Grain.MINUTE:
            moment = parse_moment(day, context.now, context.time_zone)
        if isinstance(moment, Moment):
            records.append(builder.record(item if item.tag != "a" else cell, title, element, moment, text, 0.5))
    return records
