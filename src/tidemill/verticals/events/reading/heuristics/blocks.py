"""Which stretches of a page are one event each: blocks that repeat and that each tell a date."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from tidemill.reading.outline import LINE, Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.dating import ElementDate, date_of, is_event_date
from tidemill.verticals.events.reading.heuristics.tables import DATE_COLUMN, cell_of, cell_under
from tidemill.verticals.events.reading.heuristics.wording import without_dates

_ENOUGH_TEXT = 600
"""Characters of a block in which its words show, if it has any."""
_LISTED = frozenset({"li", "p", "tr", "td", "dt", "h2", "h3", "h4", "h5", LINE})
"""Of these two in a row are a list; of other elements it takes three."""
_LIST_OF_DATES = 3
_LARGEST_BLOCK = 6_000
_MOST_SPANNED = 60


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """The smallest element that tells a date, and the date."""

    element: Element
    date: ElementDate


def leaves(elements: list[Element], context: ReadingContext) -> list[Leaf]:
    """Every smallest element with a date, in order."""
    found: dict[int, Leaf] = {}
    covered: set[int] = set()
    for element in reversed(elements):
        if element.order in covered:
            _cover(element, covered)
            continue
        date = date_of(element, context)
        if date is not None:
            _cover(element, covered)
            if is_event_date(element, date, context):
                found[element.order] = Leaf(element, date)
    found |= _spanned(found.values())
    return [found[order] for order in sorted(found)]


def _spanned(found: Iterable[Leaf]) -> dict[int, Leaf]:
    """The rows below a date's own that its cell spans too, each at its first cell."""
    further: dict[int, Leaf] = {}
    places: dict[int, dict[int, int]] = {}
    for leaf in found:
        cell = cell_of(leaf.element)
        span = (cell.attributes.get("rowspan") or "") if cell is not None else ""
        row = cell.parent if cell is not None else None
        if not span.isdigit() or row is None or row.parent is None or without_dates(leaf.element.text):
            continue
        rows = row.parent.children
        if row.parent.order not in places:
            places[row.parent.order] = {one.order: place for place, one in enumerate(rows)}
        place = places[row.parent.order][row.order]
        for below in rows[place + 1 : place + min(int(span), _MOST_SPANNED)]:
            if below.tag == "tr" and below.children:
                date = msgspec.structs.replace(leaf.date, place=f"{leaf.date.place}@rowspan")
                further[below.children[0].order] = Leaf(below.children[0], date)
    return further


def _cover(element: Element, covered: set[int]) -> None:
    if element.parent is not None:
        covered.add(element.parent.order)


def blocks(found: list[Leaf]) -> list[tuple[Element, list[Leaf]]]:
    """The block of each date: the nearest element beside which like elements tell dates too.

    A date that has nothing like it around it is left out here; it may be a page about one event.
    """
    counts = _DateCounts(found)
    chosen = [(leaf, _block_of(leaf.element, counts)) for leaf in found]
    known = {_markup_kind(block) for _, block in chosen if block is not None and _has_own_markup(block)}
    grouped: dict[int, tuple[Element, list[Leaf]]] = {}
    for leaf, own in chosen:
        block = _known_block(leaf.element, own, known) or own
        if block is not None:
            grouped.setdefault(block.order, (block, []))[1].append(leaf)
    return [grouped[order] for order in sorted(grouped)]


def _known_block(leaf: Element, own: Element | None, known: set[tuple[str, str]]) -> Element | None:
    """The element around a date that is made as blocks elsewhere are: one that happens to be alone in its section."""
    element: Element | None = leaf
    while element is not None and element is not own:
        if (
            element.parent is not None
            and _markup_kind(element) in known
            and _has_own_markup(element)
            and has_more_than_date(element)
        ):
            return element
        element = element.parent
    return None


def _markup_kind(block: Element) -> tuple[str, str]:
    return block.kind, block.parent.kind if block.parent is not None else ""


def _has_own_markup(block: Element) -> bool:
    return block.tag == "article" or "." in block.kind


class _DateCounts:
    """The elements that tell a date somewhere inside, and how many of a kind each parent has."""

    def __init__(self, found: list[Leaf]) -> None:
        self._orders: set[int] = set()
        self._alike: Counter[tuple[int, str]] = Counter()
        for leaf in found:
            element: Element | None = leaf.element
            while element is not None and element.order not in self._orders:
                self._orders.add(element.order)
                if element.parent is not None:
                    self._alike[element.parent.order, element.kind] += 1
                element = element.parent

    def siblings(self, element: Element) -> int:
        """How many siblings of the same kind tell a date too."""
        return self._alike[element.parent.order, element.kind] - 1 if element.parent is not None else 0


def _block_of(leaf: Element, counts: _DateCounts) -> Element | None:
    bare: Element | None = None
    element: Element | None = leaf
    while element is not None and element.parent is not None and len(element.text) <= _LARGEST_BLOCK:
        alike = counts.siblings(element)
        if (alike or _is_row_of_dates(element)) and has_more_than_date(element):
            return element
        if alike and bare is None and (alike > 1 or element.tag in _LISTED):
            bare = element
        if bare is not None and bare.tag == LINE:
            return bare
        if bare is not None and alike >= _LIST_OF_DATES and element.tag in {"li", "p"}:
            return bare
        element = element.parent
    return bare


def _is_row_of_dates(element: Element) -> bool:
    """Whether it is a row of a table that has a column for dates: of such rows one alone is an event."""
    return element.tag == "tr" and cell_under(element, DATE_COLUMN) is not None


def has_more_than_date(block: Element) -> bool:
    """Whether a block says more than its date: a title, a place."""
    return has_words(block.text[:_ENOUGH_TEXT])


def has_words(text: str) -> bool:
    """Whether a text has words beside its dates and times."""
    return bool(without_dates(text))
