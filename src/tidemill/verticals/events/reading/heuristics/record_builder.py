"""Raw records from blocks of a page."""

import re
from collections.abc import Iterator

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.moments import Grain, Moment, moved
from tidemill.reading.outline import HEADINGS, Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.text import block_of
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.context import BlockContext
from tidemill.verticals.events.reading.heuristics.dating import (
    LONGEST,
    UNDER_MONTH,
    is_near_start,
    is_posted,
    moments_in,
)
from tidemill.verticals.events.reading.heuristics.fields import (
    description_of,
    image_of,
    is_label,
    link_of,
    looks_like_place,
    place_of,
    title_of,
)
from tidemill.verticals.events.reading.heuristics.following import FollowingElements, items_among, items_of_day
from tidemill.verticals.events.reading.heuristics.hours import with_hour, with_hour_of_element
from tidemill.verticals.events.reading.heuristics.tables import header_of
from tidemill.verticals.events.reading.heuristics.wording import (
    is_title,
    kind_of_meeting,
    title_from,
    unnumbered,
    without_dates,
)

_SEVERAL = 3
_WRONG_WEEKDAY = 0.15
"""What a date is less sure by whose weekday is not the one that the page names."""
_OF_A_LIST = frozenset({"li", "p", "tr", "dd", "td"})
_END_COLUMN = re.compile(r"\b(?:end|ends|until|through|to|eind\w*|tot|t/m|deadline|sluit\w*)\b", re.IGNORECASE)


class RecordBuilder:
    """Builds the records of one page from its blocks, their dates and their headings."""

    def __init__(self, document: Document, context: ReadingContext, block_context: BlockContext) -> None:
        """Keep what every record of the page needs."""
        self.document = document
        self.context = context
        self.block_context = block_context
        self._following = FollowingElements()

    def records_of_block(self, block: Element, inside: list[Leaf], *, alike: int) -> Iterator[RawRecord]:
        """The events of one block: usually one; one a line, or one a follower, where it is a list in itself."""
        year = self.block_context.year_over(block)
        lines = self._dated_lines(block, year)
        if len({moment.day for _, moment in lines}) >= _SEVERAL and block.tag != "tr":
            yield from self._records_of_lines(block, lines)
            return
        if not without_dates(block.text) and (followers := self._following.of(block)):
            yield from self._records_of_items(items_among(followers), inside[0], year)
            return
        if len(items := items_of_day(block, inside, self._following)) > 1:
            yield from self._records_of_items(items, inside[0], year)
            return
        if is_posted(block.text):  # news: only a date that stands by itself is an event's
            inside = [leaf for leaf in inside if not without_dates(leaf.element.text)]
        if inside and block.text and not block.text.isdigit():  # not a day of a calendar with nothing on it
            yield from self._records_of_event(block, inside, year, alike)

    def _records_of_event(
        self, block: Element, inside: list[Leaf], year: int | None, alike: int
    ) -> Iterator[RawRecord]:
        """The event that a block is, once for each of its days."""
        moment, written = self.moment_of(block, inside, year)
        if not self.block_context.is_agenda(block, moment.day, self.context.now.date()):
            return
        title, element = title_of(block)
        place = ""
        if title and element is None and looks_like_place(title) and (over := self.block_context.title_over(block)):
            title, place = over, title
        if inside[0].date.place.endswith(UNDER_MONTH):
            title = unnumbered(title)
        confidence = 0.5 if title else 0.35
        confidence += 0.1 if alike >= _SEVERAL and title else 0.0
        title = title or (self._title_over(block) if _is_named(inside[0]) else "")
        if title:
            for one in (moment, *self._other_days(inside, moment, year)):
                yield self.record(block, title, element, one, written, confidence, place)

    def _title_over(self, block: Element) -> str:
        """What the page is about, and which sort of its meetings a block says to be."""
        over, sort = self.block_context.title_over(block), kind_of_meeting(block.lines(without=is_label))
        return f"{over}: {sort}" if over and sort else over or sort

    def _other_days(self, inside: list[Leaf], first: Moment, year: int | None) -> list[Moment]:
        """The further days on which it is: those of `vr 20 & za 21 november`, and the items of a list of days."""
        if first.ends is not None and first.ends.date() != first.day:
            return []
        lead = inside[0].element
        if "@" in inside[0].date.place:
            return []
        own = moments_in(lead.text, self.context, year)
        spans = {(begins, ends) for begins, ends, _ in own}
        days = [moment for _, _, moment in own] if len(spans) == 1 else []
        if lead.tag in _OF_A_LIST and not without_dates(lead.text):
            items = [leaf.element for leaf in inside[1:] if _is_another_day(leaf.element, lead)]
            days += [found[0][2] for item in items if (found := moments_in(item.text, self.context, year))]
        others = {moment.day: moment for moment in days if moment.day != first.day}
        return [
            moment if moment.grain is Grain.MINUTE else moved(first, day, self.context.time_zone)
            for day, moment in others.items()
        ]

    def record(
        self,
        block: Element,
        title: str,
        element: Element | None,
        moment: Moment,
        written: str,
        confidence: float,
        place: str = "",
        url: str = "",
    ) -> RawRecord:
        """One raw record out of a block."""
        fields: dict[str, object] = {"title": title, "starts": _iso(moment), "written": written[:200]}
        if moment.ends is not None:
            fields["ends"] = moment.ends.isoformat(timespec="minutes")
        optional = {
            "place": _unless_address(place or place_of(block, title)),
            "url": url or link_of(block, element, self.document),
            "image": image_of(block, self.document),
            "description": description_of(block, title),
        }
        fields.update({name: value for name, value in optional.items() if value and value != title})
        confidence += (0.1 if moment.grain is Grain.MINUTE else 0.0) + (0.05 if "url" in fields else 0.0)
        confidence -= 0.0 if moment.year_given else 0.1
        confidence -= _WRONG_WEEKDAY if moment.weekday_agrees is False else 0.0
        return RawRecord(
            fields=fields,
            strategy=Strategy.HEURISTICS,
            confidence=round(min(confidence, 0.75), 2),
            origin=f"heuristics/{block.path()}[{block.order}]",
            places={name: element.path() if name == "title" and element else block.path() for name in fields},
            block=block_of(block.node.html or ""),
        )

    def moment_of(self, block: Element, inside: list[Leaf], year: int | None) -> tuple[Moment, str]:
        """The block's date with the most that is said about it: a stamp, else the smallest text with an hour."""
        first = inside[0]
        best, written = first.date.moment, first.date.written
        stamped = "@" in first.date.place
        if stamped and best.grain is Grain.MINUTE and best.starts.time().isoformat() != "00:00:00":
            return self._checked(first, block), written
        found = moments_in(first.element.text, self.context, year) if not stamped else ()
        best = found[0][2] if found else best
        element: Element | None = first.element
        while element is not None:
            moment = self._fuller(best, element, year)
            if moment is not None:
                return with_hour(moment, block, element, self.context), element.text
            if element is first.element and (clocked := with_hour_of_element(best, block, self.context)) is not None:
                return clocked, written
            element = element.parent if element is not block else None
        return with_hour(best, block, first.element, self.context), written

    def _fuller(self, best: Moment, element: Element, year: int | None) -> Moment | None:
        """The first date of an element's text, if it says more than the best one so far: an hour, a year, an end."""
        found = moments_in(element.text, self.context, year) if len(element.text) <= LONGEST else ()
        if not found:
            return None
        moment = found[0][2]
        fuller = moment.grain is Grain.MINUTE or (moment.year_given and not best.year_given) or moment.ends
        return moment if fuller else None

    def _checked(self, leaf: Leaf, block: Element) -> Moment:
        """A stamp, unless it is in UTC and the words beside it tell the local time of the same event."""
        stamp = leaf.date.moment
        if not leaf.date.written.endswith(("Z", "+00:00", "+0000")):
            return stamp
        for text in (leaf.element.text, block.text[:LONGEST]):
            for _, _, moment in moments_in(text, self.context):
                apart = abs((moment.starts.replace(tzinfo=None) - stamp.starts.replace(tzinfo=None)).total_seconds())
                if moment.grain is Grain.MINUTE and apart <= 14 * 3600:
                    return moment
        return stamp

    def _dated_lines(self, block: Element, year: int | None) -> list[tuple[str, Moment]]:
        found = []
        for line in block.lines(without=is_label):
            moments = moments_in(line, self.context, year) if len(line) <= LONGEST else []
            crowded = len({begins for begins, _, _ in moments}) >= _SEVERAL
            if moments and (crowded or is_near_start(moments[0][0], len(line))):
                found += [(line, moment) for _, _, moment in moments] if crowded else [(line, moments[0][2])]
        return found

    def _records_of_lines(self, block: Element, lines: list[tuple[str, Moment]]) -> Iterator[RawRecord]:
        crowded = len({line for line, _ in lines}) < len(lines)
        heading = next((one for one in block.walk() if one.tag in HEADINGS and title_from(one.text)), None)
        over = title_from(heading.text) if heading is not None else self._title_over(block)
        for line, moment in lines:
            own = "" if crowded else title_from(line)
            title = own or over
            if title:
                yield self.record(block, title, None, moment, line, 0.4 if own else 0.35)

    def _records_of_items(self, items: list[Element], leaf: Leaf, year: int | None) -> Iterator[RawRecord]:
        """The events under a date that stands as a heading: each item below it, with its own hour."""
        if not _is_named(leaf):
            return
        moment, written = leaf.date.moment, leaf.date.written
        if items[0] not in leaf.element.walk():  # what stands in the date's own element may be an item's hour
            moment, written = self.moment_of(leaf.element, [leaf], year)
        for item in items:
            title, element = title_of(item)
            if not title or not is_title(title):
                continue
            use = with_hour(moment, item, item, self.context)
            yield self.record(item, title, element, use, f"{written} {item.text[:100]}", 0.5)


def _is_another_day(element: Element, lead: Element) -> bool:
    """Whether a date beside the first is a further day: of the same list, or in a column that names no end."""
    if element.parent is not lead.parent:
        return False
    return element.tag != "td" or (bool(name := header_of(element)) and not _END_COLUMN.search(name))


def _is_named(leaf: Leaf) -> bool:
    """Whether a date is named by itself: a bare `today` or `this weekend` with no title is a filter's."""
    return "@" in leaf.date.place or any(character.isdigit() for character in leaf.element.text)


def _unless_address(place: str) -> str:
    """A place, unless it is an address on the web: there a meeting is seen, not held."""
    return "" if place.startswith(("http", "www.")) else place


def _iso(moment: Moment) -> str:
    return moment.starts.isoformat(timespec="minutes") if moment.grain is Grain.MINUTE else moment.day.isoformat()
