"""Pages about one event: a heading that names it, and a date close by or under a label."""

import re

from tidemill.core.record import RawRecord
from tidemill.reading.heuristics.blocks import Leaf
from tidemill.reading.heuristics.outline import Element
from tidemill.reading.heuristics.records import Scribe
from tidemill.reading.heuristics.wording import title_from

_NEAR = 60
"""Elements after the heading within which its date stands."""
_LABEL = re.compile(
    r"(?:^|\s)(?:datum|date|when|wanneer|start(?:s|datum| date)?(?:/time)?|begint|tijdstip|date & time|meeting on|data?)\s*:?\s*$",
    re.IGNORECASE,
)


def single_event(
    elements: list[Element], found: list[Leaf], grouped: list[tuple[Element, list[Leaf]]], scribe: Scribe
) -> list[RawRecord]:
    """The event that the page as a whole is about, if it is about one."""
    heading = _heading(elements)
    title = title_from(heading.text) if heading is not None else scribe.around.subject
    if not title or not found:
        return []
    leaf = _date_for(heading, found, {id(leaf) for _, inside in grouped for leaf in inside})
    if leaf is None:
        return []
    moment, written = scribe.moment_of(leaf.element.parent or leaf.element, [leaf], None)
    block = _content(heading, leaf)
    return [scribe.record(block, title, heading, moment, written, 0.5)]


def _heading(elements: list[Element]) -> Element | None:
    """The page's main heading, where it names something."""
    for tag in ("h1", "h2", "h3"):
        named = [element for element in elements if element.tag == tag and title_from(element.text)]
        if named and (tag == "h1" or len(named) == 1):
            return named[0]
    return None


def _date_for(heading: Element | None, found: list[Leaf], listed: set[int]) -> Leaf | None:
    """The date that is the heading's: labelled as such, or near it and in no list; a lone date in any case."""
    labelled = next((leaf for leaf in found if _is_labelled(leaf.element)), None)
    if labelled is not None and (id(labelled) not in listed or len(found) <= 4):  # noqa: PLR2004 - a start and an end
        return labelled
    if heading is not None:
        near = [leaf for leaf in found if 0 <= leaf.element.order - heading.order <= _NEAR and id(leaf) not in listed]
        if near:
            return near[0]
    return found[0] if len(found) == 1 and id(found[0]) not in listed else None


def _is_labelled(element: Element) -> bool:
    if _LABEL.search(element.text.split(":")[0] + ":") and ":" in element.text[:30]:
        return True
    parent = element.parent
    while parent is not None and len(parent.text) < 400:  # noqa: PLR2004 - a label stands close by
        before = parent.text.partition(element.text)[0]
        if before:
            return _LABEL.search(before[-30:]) is not None
        previous = _previous_text(parent)
        if previous:
            return _LABEL.search(previous[-30:]) is not None
        parent = parent.parent
    return False


def _previous_text(element: Element) -> str:
    parent = element.parent
    if parent is None:
        return ""
    before = ""
    for child in parent.children:
        if child is element:
            return before
        before = child.text or before
    return before


def _content(heading: Element | None, leaf: Leaf) -> Element:
    """The smallest element that holds both the heading and the date."""
    if heading is None:
        return leaf.element.parent or leaf.element
    above = set()
    element: Element | None = heading
    while element is not None:
        above.add(element.order)
        element = element.parent
    element = leaf.element
    while element.order not in above and element.parent is not None:
        element = element.parent
    return element
