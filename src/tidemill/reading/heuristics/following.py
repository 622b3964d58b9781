"""The events that stand under a date, where the date is a heading over them or the name of their cell."""

from itertools import pairwise

from tidemill.reading.heuristics.blocks import Leaf
from tidemill.reading.heuristics.dating import HINT
from tidemill.reading.heuristics.hours import tells_hour
from tidemill.reading.heuristics.outline import LINE, Element
from tidemill.reading.heuristics.wording import stripped, title_from

_PARAGRAPHS = frozenset({"p", LINE})


def followers_of(block: Element) -> list[Element]:
    """What comes after a bare date among its siblings, up to the next bare date."""
    parent = block.parent
    if parent is None:
        return []
    siblings = [sibling for sibling in parent.children if sibling.text]
    index = next(place for place, sibling in enumerate(siblings) if sibling is block)
    alternating = block.tag == "tr" or (block.tag in _PARAGRAPHS and _alternates(siblings, block.kind))
    found: list[Element] = []
    for sibling in siblings[index + 1 :]:
        if sibling.kind == block.kind and not (alternating and stripped(sibling.text)):
            break
        found.append(sibling)
    return found


def _alternates(siblings: list[Element], kind: str) -> bool:
    """Whether the first bare date among paragraphs is followed by words: else it is a list of dates."""
    pairs = pairwise(siblings)
    return next((bool(stripped(after.text)) for one, after in pairs if one.kind == kind and _is_bare(one)), False)


def _is_bare(element: Element) -> bool:
    return HINT.search(element.text) is not None and not stripped(element.text)


def items_of_day(block: Element, inside: list[Leaf]) -> list[Element]:
    """The like items in a cell of a calendar, where the cell itself is stamped with its day."""
    if block.tag != "td" or inside[0].element is not block:
        return []
    links = [one for one in block.walk() if one.tag == "a" and title_from(one.text)]
    return links if len({link.kind for link in links}) == 1 else []


def items_among(followers: list[Element]) -> list[Element]:
    """The like items among the followers: the followers themselves, or the children of a list; else the first."""
    if len(followers) == 1:
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
        return [follower for follower in followers if tells_hour(follower.text)] or followers[:1]
    return followers
