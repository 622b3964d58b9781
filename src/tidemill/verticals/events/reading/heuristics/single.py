"""Pages about one event: a heading that names it, and a date close by or under a label."""

import re

from tidemill.core.record import RawRecord
from tidemill.reading.moments import Grain, Moment, moved
from tidemill.reading.outline import Element
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.dating import is_posted, moments_in
from tidemill.verticals.events.reading.heuristics.fields import title_of
from tidemill.verticals.events.reading.heuristics.record_builder import RecordBuilder
from tidemill.verticals.events.reading.heuristics.wording import (
    RECURS,
    kind_of_meeting,
    title_from,
    who_is_announced,
    without_dates,
)

_NEAR = 60
"""Elements after the heading within which its date stands."""
_FEW_LABELS = 20
_MOST_LABELS = 3
"""Labelled dates of one event: its start, its end, and one for scripts."""
_LONGEST_LINE, _LONGEST_LABEL = 110, 30
_LONGEST_FACTS = 300
_IN_THE_NEWS = re.compile(
    r"/(?:news|newsroom|press|press-?releases?|blog|nieuws|nieuwsberichten|actueel|persberichten|aktuelles|presse"
    r"|actualites|noticias|notizie)/[^/]",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:^|\s)(?:datum|data|date|when|wanneer|(?:start|end|eind)(?:s|datum| date)?(?:/time)?|begint|tijdstip"
    r"|date & time|meeting on)\s*:?\s*$",
    re.IGNORECASE,
)


def single_event(
    found: list[Leaf], grouped: list[tuple[Element, list[Leaf]]], builder: RecordBuilder
) -> tuple[list[RawRecord], set[int]]:
    """The event that the page as a whole is about, once for each of its days, and the elements that tell them."""
    heading = builder.block_context.main_heading
    listed = {id(leaf) for _, inside in grouped for leaf in inside}
    labelled = [leaf for leaf in found if _is_labelled(leaf.element)]
    if sum(_is_an_event(block, labelled, inside) for block, inside in grouped) > 1 or _are_apart(labelled, builder):
        return [], set()
    leaf = labelled[0] if labelled and len(labelled) <= _MOST_LABELS else _date_for(heading, found, listed)
    if leaf is None:
        return _titled_line(found, listed, builder), set()
    if len(grouped) > _MOST_LABELS - 1 and RECURS.search(leaf.element.text):  # when it meets, above a list of dates
        return [], set()
    heading = heading or builder.block_context.heading_over(leaf.element)
    title = title_from(heading.text) if heading is not None else builder.block_context.subject
    title = builder.block_context.labelled_title or title or who_is_announced(leaf.element.text)
    if not title:
        return [], set()
    block = _content(heading, leaf) if heading is not None else _facts(leaf.element)
    near = builder.block_context.heading_over(leaf.element)
    if near is not None and near is not heading and (sort := kind_of_meeting([near.text])):
        title = f"{title}: {sort}"
    moment, written = builder.moment_of(_facts(leaf.element), [leaf], None)
    if not labelled and _is_news(leaf, block, moment, builder.document.url):
        return [], set()
    days = [moment, *_other_days(leaf, moment, builder)]
    records = [builder.record(block, title, heading, one, written, 0.5, url=builder.document.url) for one in days]
    return records, {leaf.element.order, *(other.element.order for other in labelled)}


def _is_news(leaf: Leaf, block: Element, moment: Moment, url: str) -> bool:
    """Whether a piece of news mentions the date, or is of that day."""
    dated = moment.grain is not Grain.MINUTE and _IN_THE_NEWS.search(url) is not None
    return dated or (bool(without_dates(leaf.element.text)) and is_posted(block.text))


def _are_apart(labelled: list[Leaf], builder: RecordBuilder) -> bool:
    """Whether labelled dates that are in lists have headings of their own: each is another event."""
    first = labelled[:_FEW_LABELS]
    over = {heading.order for leaf in first if (heading := builder.block_context.heading_over(leaf.element))}
    return len(over) > 1 and len(first) == len(over)


def _is_an_event(block: Element, labelled: list[Leaf], inside: list[Leaf]) -> bool:
    """Whether a block is an event with a labelled date of its own, and so the page about more than one."""
    return any(leaf in labelled for leaf in inside) and bool(title_of(block)[0])


def _facts(leaf: Element) -> Element:
    """The list or table of facts that a date stands in, where its hour may stand too; else what is around it."""
    above = leaf.parent
    while above is not None and len(above.text) <= _LONGEST_FACTS:
        if above.tag in {"dl", "table", "ul"}:
            return above
        above = above.parent
    return leaf.parent or leaf


def _other_days(leaf: Leaf, first: Moment, builder: RecordBuilder) -> list[Moment]:
    """The further days of `zaterdag 12 en zondag 13 december`, at the same hour."""
    if first.ends is not None and first.ends.date() != first.day:
        return []
    days = [moment.day for _, _, moment in moments_in(leaf.element.text, builder.context) if moment.day != first.day]
    return [moved(first, day, builder.context.time_zone) for day in dict.fromkeys(days)]


def _titled_line(found: list[Leaf], listed: set[int], builder: RecordBuilder) -> list[RawRecord]:
    """A page that opens with a line such as `Agenda raadsvergadering 20 mei 2026`, and has no heading."""
    first = found[0] if found else None
    if first is None or id(first) in listed or len(first.element.text) > _LONGEST_LINE:
        return []
    line = first.element if without_dates(first.element.text) else first.element.parent or first.element
    title = without_dates(line.text)
    if not title or len(line.text) > _LONGEST_LINE:
        return []
    moment, written = builder.moment_of(line, [first], None)
    return [builder.record(line, title, None, moment, written, 0.4)]


def _date_for(heading: Element | None, found: list[Leaf], listed: set[int]) -> Leaf | None:
    """The date that is the heading's: near it and in no list; a lone date in any case."""
    if heading is not None:
        near = [leaf for leaf in found if 0 <= leaf.element.order - heading.order <= _NEAR and id(leaf) not in listed]
        if near:
            return near[0]
    return found[0] if len(found) == 1 and id(found[0]) not in listed else None


def _is_labelled(element: Element) -> bool:
    if any(_LABEL.search(line.split(":")[0] + ":") for line in element.lines() if ":" in line[:_LONGEST_LABEL]):
        return True
    parent = element.parent
    while parent is not None and len(parent.text) < 400:  # noqa: PLR2004 - a label stands close by
        before = parent.text.partition(element.text)[0] if element.text else ""
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
    place = parent.children.index(element)
    return next((text for at in range(place - 1, -1, -1) if (text := parent.children[at].text)), "")


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
