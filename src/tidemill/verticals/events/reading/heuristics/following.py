"""The events that stand under a date, where the date is a heading over them or the name of their cell."""

import re

from tidemill.reading.moments.words import MONTHS, any_of
from tidemill.reading.outline import HEADINGS, LINE, Element
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.dating import DATE_HINT, UNDER_MONTH
from tidemill.verticals.events.reading.heuristics.hours import has_hour
from tidemill.verticals.events.reading.heuristics.wording import title_from, without_dates

_PARAGRAPHS = frozenset({"p", LINE})
_LEAD = 40


class FollowingElements:
    """What comes after the bare dates of one page; the children of each element are looked at once."""

    def __init__(self) -> None:
        """Nothing looked at yet."""
        self._siblings_of: dict[int, _Siblings] = {}

    def of(self, block: Element) -> list[Element]:
        """What comes after a bare date among its siblings, up to the next bare date."""
        parent = block.parent
        if parent is None:
            return []
        siblings = self._siblings_of.get(parent.order)
        if siblings is None:
            siblings = self._siblings_of[parent.order] = _Siblings(parent)
        return siblings.after(block)


class _Siblings:
    """The children of one element, and in which kinds of them dates and words take turns."""

    def __init__(self, parent: Element) -> None:
        self._children = parent.children
        self._places = {child.order: place for place, child in enumerate(parent.children)}
        self._alternating: dict[str, bool] = {}

    def after(self, block: Element) -> list[Element]:
        alternating = block.tag == "tr" or (block.tag in _PARAGRAPHS and self._alternates(block.kind))
        found: list[Element] = []
        for place in range(self._places[block.order] + 1, len(self._children)):
            sibling = self._children[place]
            is_date = not (alternating and without_dates(sibling.text)) or _begins_with_date(sibling.text)
            if sibling.kind == block.kind and is_date:
                break
            if sibling.text:
                found.append(sibling)
        return found

    def _alternates(self, kind: str) -> bool:
        if kind not in self._alternating:
            self._alternating[kind] = _alternate([child for child in self._children if child.text], kind)
        return self._alternating[kind]


def _alternate(siblings: list[Element], kind: str) -> bool:
    """Whether bare dates and words take turns among paragraphs; else it is a list of dates, or each has its heading."""
    bare = (place for place, one in enumerate(siblings) if one.kind == kind and _is_bare(one))
    first, second = next(bare, None), next(bare, None)
    if first is None or second is None or siblings[second - 1].tag in HEADINGS:
        return False
    return bool(without_dates(siblings[first + 1].text))


_OWN_DATE = re.compile(
    rf"^(?:\W*[^\W\d_]{{2,9}}\W{{1,3}})?(?:(?:{any_of(MONTHS)})\b\.?\s*\d|\d{{1,2}}(?:st|nd|rd|th|e)?\.?\s(?:{any_of(MONTHS)})\b"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b)",
    re.IGNORECASE,
)


def _begins_with_date(text: str) -> bool:
    """Whether a text begins with a date of its own, whatever it says behind it: it belongs to no date above it."""
    return _OWN_DATE.match(text[:_LEAD]) is not None


def _is_bare(element: Element) -> bool:
    return DATE_HINT.search(element.text) is not None and not without_dates(element.text)


def items_of_day(block: Element, inside: list[Leaf], following: FollowingElements) -> list[Element]:
    """The like items in a block that is a day: a calendar's cell with its links, a date over a list with hours."""
    leaf = inside[0]
    if leaf.element is not block and not without_dates(leaf.element.text):
        items = items_among(followers) if (followers := following.of(leaf.element)) else []
        if len(items) > 1 and all(has_hour(item.text) and title_from(item.text) for item in items):
            return items
    if block.tag != "td" and not leaf.date.place.endswith(UNDER_MONTH) and not _is_stamped_day(block, leaf):
        return []
    links = [one for one in block.walk() if one.tag == "a" and title_from(one.text)]
    return links if len({link.kind for link in links}) == 1 else []


def _is_stamped_day(block: Element, leaf: Leaf) -> bool:
    """Whether a block is a day of a calendar by a stamp of its own: `<div data-date="2026-03-18">`."""
    return leaf.element is block and "@data-" in leaf.date.place and block.text[:2].strip().isdigit()


def items_among(followers: list[Element]) -> list[Element]:
    """The like items among the followers: the followers themselves, or the children of a list; else the first."""
    if len(followers) == 1 and followers[0].tag != "tr":
        only = followers[0]
        while len(only.children) == 1 and only.children[0].tag in {"tbody", "ul", "ol", "div"}:
            only = only.children[0]
        children = [child for child in only.children if child.text]
        if (
            len(children) > 1
            and len({child.kind for child in children}) == 1
            and children[0].tag not in {"span", "a", "p", "br"}
        ):
            return children
        return followers
    if len({follower.kind for follower in followers}) > 1:
        return followers[:1]
    if followers[0].tag in _PARAGRAPHS:  # those without an hour are about the event above them
        return [follower for follower in followers if has_hour(follower.text)] or followers[:1]
    return followers
