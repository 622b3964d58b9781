"""What a table's columns are called, and the cells that stand under a name."""

import re
from collections.abc import Iterator

from tidemill.reading.outline import Element

DATE_COLUMN = re.compile(
    r"(?:meeting |event |start )?(?:date|datum|dag|day|when|wanneer)(?:s|(?: ?(?:/|&|and|en) ?(?:time|tijd)))?",
    re.IGNORECASE,
)


def header_of(cell: Element) -> str:
    """The heading of the column that a cell stands in; '' for a cell of no table, or of one without headings."""
    row = cell.parent
    if cell.tag not in {"td", "th"} or row is None:
        return ""
    head = _head(row)
    place = next(index for index, child in enumerate(row.children) if child is cell)
    return head[place].text.strip(" :") if len(head) == len(row.children) else ""


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
    """The cells of the table's first row, unless the row itself is that."""
    table = row.parent
    while table is not None and table.tag != "table":
        table = table.parent
    if table is None:
        return []
    first = next((element for element in table.walk() if element.tag == "tr" and element.text), None)
    return first.children if first is not None and first is not row else []
