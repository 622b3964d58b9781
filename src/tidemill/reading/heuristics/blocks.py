"""Which stretches of a page are one event each: blocks that repeat and that each tell a date."""

from tidemill.reading.heuristics.dating import Dated, date_of
from tidemill.reading.heuristics.outline import Element
from tidemill.reading.heuristics.wording import stripped
from tidemill.reading.setting import Setting

_ENOUGH_TEXT = 600
"""Characters of a block in which its words show, if it has any."""
_LARGEST_BLOCK = 6_000


class Leaf:
    """The smallest element that tells a date, and the date."""

    __slots__ = ("dated", "element")

    def __init__(self, element: Element, dated: Dated) -> None:
        self.element = element
        self.dated = dated


def leaves(elements: list[Element], setting: Setting) -> list[Leaf]:
    """Every smallest element with a date, in order."""
    found: dict[int, Leaf] = {}
    covered: set[int] = set()
    for element in reversed(elements):
        if element.order in covered:
            _cover(element, covered)
            continue
        dated = date_of(element, setting)
        if dated is not None:
            found[element.order] = Leaf(element, dated)
            _cover(element, covered)
    return [found[order] for order in sorted(found)]


def _cover(element: Element, covered: set[int]) -> None:
    if element.parent is not None:
        covered.add(element.parent.order)


def blocks(found: list[Leaf]) -> list[tuple[Element, list[Leaf]]]:
    """The block of each date: the nearest element beside which like elements tell dates too.

    A date that has nothing like it around it is left out here; it may be a page about one event.
    """
    holding = _holding(found)
    grouped: dict[int, tuple[Element, list[Leaf]]] = {}
    for leaf in found:
        block = _block_of(leaf.element, holding)
        if block is not None:
            grouped.setdefault(block.order, (block, []))[1].append(leaf)
    return [grouped[order] for order in sorted(grouped)]


def _holding(found: list[Leaf]) -> set[int]:
    """The elements that tell a date somewhere inside."""
    holding: set[int] = set()
    for leaf in found:
        element: Element | None = leaf.element
        while element is not None and element.order not in holding:
            holding.add(element.order)
            element = element.parent
    return holding


def _block_of(leaf: Element, holding: set[int]) -> Element | None:
    bare: Element | None = None
    element: Element | None = leaf
    while element is not None and element.parent is not None and len(element.text) <= _LARGEST_BLOCK:
        alike = _dated_siblings(element, holding)
        if alike:
            if says_more(element):
                return element
            bare = bare or (element if alike > 1 or element.tag in {"li", "p", "tr", "td"} else None)
            if bare is not None and alike > 2 and element.tag in {"li", "p"}:  # noqa: PLR2004 - a list of bare dates
                return bare
        element = element.parent
    return bare


def _dated_siblings(element: Element, holding: set[int]) -> int:
    parent = element.parent
    if parent is None:
        return 0
    kind = element.kind
    return sum(1 for other in parent.children if other is not element and other.order in holding and other.kind == kind)


def says_more(block: Element) -> bool:
    """Whether a block says more than its date: a title, a place."""
    return has_words(block.text[:_ENOUGH_TEXT])


def has_words(text: str) -> bool:
    """Whether a text has words beside its dates and times."""
    return bool(stripped(text))
