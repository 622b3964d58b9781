"""What a table's columns are called, and the cells that stand under a name."""

import re
from collections.abc import Iterator

from tidemill.reading.moments.words import FULL_MONTHS, FULL_WEEKDAYS, any_of
from tidemill.reading.outline import Element

DATE_COLUMN = re.compile(
    r"(?:meeting |event |start )?(?:date|datum|dag|day|when|wanneer)(?:s|(?: ?(?:/|&|and|en) ?(?:time|tijd)))?",
    re.IGNORECASE,
)


_LONGEST_HEADING = 200
"""Characters of a column's heading that are looked at, once for every row."""
_CLIMB = 4
"""Elements between a date and its cell."""


def header_of(cell: Element) -> str:
    """The heading of the column that a cell stands in; '' for a cell of no table, or of one without headings."""
    heading = _heading_of(cell)
    return heading.text[:_LONGEST_HEADING].strip(" :") if heading is not None else ""


def _heading_of(cell: Element) -> Element | None:
    row = cell.parent
    if cell.tag not in {"td", "th"} or row is None:
        return None
    head = _head(row)
    place = next(index for index, child in enumerate(row.children) if child is cell)
    return head[place] if len(head) == len(row.children) else None


def column_of(element: Element) -> str:
    """The heading of the column that an element stands in, itself a cell or in one."""
    cell = cell_of(element)
    return header_of(cell) if cell is not None else ""


def cell_of(element: Element) -> Element | None:
    """The cell of a table that an element is or stands in."""
    cell: Element | None = element
    for _ in range(_CLIMB):
        if cell is None or cell.tag in {"td", "th"}:
            break
        cell = cell.parent
    return cell


def has_named_columns(row: Element) -> bool:
    """Whether a table's columns have names: where its first row holds digits, as dates do, they have none."""
    head = _head(row)
    return bool(head) and not any(map(str.isdigit, "".join(cell.text[:_LONGEST_HEADING] for cell in head)))


def names_event_dates(cell: Element) -> bool:
    """Whether the heading of a cell's column may name when something is on; one that is no `th` is not trusted."""
    heading = _heading_of(cell)
    if heading is None or heading.tag != "th":
        return True
    name = heading.text[:_LONGEST_HEADING].strip(" :")
    return not name or EVENT_COLUMN.search(name) is not None


EVENT_COLUMN = re.compile(
    r"\d|date|dat(?:um|a|es)\b|\bdays?\b|\bdag|\btag\b|jour|d[i\u00ed]a\b|giorno|fecha|when\b|wann|quand|cu[a\u00e1]ndo|quando"
    r"|\btime|tijd|zeit\b|\bhora|heure|\bora\b|start|begin|aanvang|meeting|session|hearing|event|schedul|calendar|kalender"
    r"|agenda|month|maand|monat|mois|\bmes\b|week|woche|vergader|bijeenkomst|sitzung|termin|concert|konzert|show|performance"
    r"|voorstelling|film|game|match|wedstrijd|class|course|cursus|workshop|\bfrom\b|\bvan\b|\bvon\b|\bdu\b|\bdal\b|programm"
    r"|raad|commissie|bestuur|council|committee|commission|board|ausschuss|rat\b|conseil|consejo|consiglio|regular|special|public"
    rf"|{any_of({*FULL_WEEKDAYS, *FULL_MONTHS})}",
    re.IGNORECASE,
)
"""How a column of days is called on which something is on."""


def cell_under(row: Element, column: re.Pattern[str]) -> Element | None:
    """A row's cell under the heading that the pattern matches."""
    return next((cell for name, cell in _named(row) if column.fullmatch(name)), None)


def cells_beside(row: Element, columns: re.Pattern[str]) -> list[Element]:
    """A row's cells but for those under a heading that the pattern matches."""
    others = [cell for name, cell in _named(row) if columns.fullmatch(name)]
    return [cell for cell in row.children if cell not in others]


def _named(row: Element) -> Iterator[tuple[str, Element]]:
    head = _head(row)
    if len(head) == len(row.children):
        yield from ((name.text.strip(" :"), cell) for name, cell in zip(head, row.children, strict=True))


def _head(row: Element) -> list[Element]:
    """The cells of the table's first row that is no caption of one cell, unless the row itself is that."""
    table = row.parent
    while table is not None and table.tag != "table":
        table = table.parent
    if table is None:
        return []
    first = next((one for one in table.walk() if one.tag == "tr" and one.text and _is_head(one, row)), None)
    return first.children if first is not None and first is not row else []


def _is_head(first: Element, row: Element) -> bool:
    """Whether a row may name columns: a single cell over several is the table's caption."""
    return len(first.children) > 1 or len(row.children) == 1
