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
    place_of,
    title_of,
)
from tidemill.verticals.events.reading.heuristics.following import FollowingElements, items_among, items_of_day
from tidemill.verticals.events.reading.heuristics.hours import (
    at_hour_in,
    lines_by_hour,
    with_hour,
    with_hour_of_element,
)
from tidemill.verticals.events.reading.heuristics.introductions import (
    MOST_LINES,
    NO_INTRODUCTION,
    Introduction,
    adds_to,
    hours_of,
    introduction_in,
)
from tidemill.verticals.events.reading.heuristics.months import is_in_row_of_month
from tidemill.verticals.events.reading.heuristics.places import (
    ONLINE_PLACE,
    is_place,
    looks_like_place,
    title_and_place,
)
from tidemill.verticals.events.reading.heuristics.tables import column_of, header_of
from tidemill.verticals.events.reading.heuristics.wording import (
    is_title,
    kind_of_meeting,
    title_from,
    unnumbered,
    without_dates,
    without_paperwork,
)

_SEVERAL = 3
_WRONG_WEEKDAY = 0.15
"""What a date is less sure by whose weekday is not the one that the page names."""
_ALIKE, _TIMED = 0.05, 0.2
_CAPTIONS = 3
_KIND = re.compile(
    r"\b(?:meeting|hearing|session|concert|vergadering|bijeenkomst|sitzung|réunion|lesson|class)\b", re.IGNORECASE
)
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
            listed = list(self._records_of_items(items_among(followers), inside[0], year))
            if listed or not all(map(_is_online, followers)):
                yield from listed
                return
        if len(items := items_of_day(block, inside, self._following)) > 1:
            yield from self._records_of_items(items, inside[0], year)
            return
        if len(hours := lines_by_hour(block, inside[0].element)) > 1:
            yield from self._records_of_hours(block, hours, inside[0], year)
            return
        if is_posted(block.text):  # news: only a date that stands by itself or has an hour is an event's
            inside = [leaf for leaf in inside if _is_timed(leaf) or not without_dates(leaf.element.text)]
        bare = block.text.isdigit() and not is_in_row_of_month(inside[0].element) if inside else True
        if block.text and not bare:  # not a day of a calendar with nothing on it
            yield from self._records_of_event(block, inside, year, alike)

    def _records_of_event(
        self, block: Element, inside: list[Leaf], year: int | None, alike: int
    ) -> Iterator[RawRecord]:
        """The event that a block is, once for each of its days."""
        moment, written = self.moment_of(block, inside, year)
        if not self.block_context.is_agenda(block, moment.day, self.context.now.date()):
            return
        title, element = title_of(block)
        title, place = title_and_place(title)
        if title and _names_its_place(title, element) and (over := self._title_over(block)):
            title, place = over, _unless_online(without_paperwork(title))
        if title and (over := self._title_over(block)) and (remark := _remark(block.text, title)):
            title, place = (over, title) if remark == "@" else (f"{over}: {title}", place)
        if inside[0].date.place.endswith(UNDER_MONTH):
            title = unnumbered(title)
        confidence = 0.5 if title else 0.35
        confidence += _ALIKE if alike >= _SEVERAL and title else 0.0
        title = title or (self._title_over(block, inside[0].element) if _is_named(inside[0]) else "")
        if title:
            for one in (moment, *self._other_days(inside, moment, year)):
                yield self.record(block, title, element, one, written, confidence, place)

    def _title_over(self, block: Element, date: Element | None = None) -> str:
        """What the page is about, and which sort of its meetings a block, or the column of its date, says to be."""
        over, lines = self.block_context.title_over(block), block.lines(without=is_label)
        sort = kind_of_meeting(lines) or kind_of_meeting([one for one in block.lines() if one not in lines])
        sort = sort or (kind_of_meeting([column_of(date)]) if date is not None else "")
        return f"{over}: {sort}" if over and sort else over or sort or self._kind_over(block)

    def _kind_over(self, block: Element) -> str:
        """What the column of the dates or the table's caption calls them, where nothing names them: `Meeting`."""
        table = block
        while table.parent is not None and table.tag != "table":
            table = table.parent
        rows = [one for one in table.walk() if one.tag == "tr"][:_CAPTIONS] if table.tag == "table" else []
        match = next((match for row in rows if (match := _KIND.search(row.text[:200]))), None)
        return match[0].capitalize() if match else ""

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
        fields: dict[str, object] = {
            "title": self.block_context.of_the_site(title),
            "starts": _iso(moment),
            "written": written[:200],
        }
        if moment.ends is not None:
            fields["ends"] = moment.ends.isoformat(timespec="minutes")
        optional = {
            "place": _unless_address(place or place_of(block, title)),
            "url": url or link_of(block, element, self.document),
            "image": image_of(block, self.document),
            "description": description_of(block, title),
        }
        fields.update({name: one for name, one in optional.items() if one and one != title and f": {one}" not in title})
        confidence += (_TIMED if moment.grain is Grain.MINUTE else 0.0) + (0.05 if "url" in fields else 0.0)
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
        if (moment.starts.month, moment.starts.day) != (best.starts.month, best.starts.day):
            return None  # of two cells' words together: `11 | December 14`
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
        told = {} if crowded else self._introductions_in(block, {line for line, _ in lines})
        for line, moment in lines:
            own = "" if crowded else title_from(line)
            at_place = own and over and (_names_its_place(own, None) or _remark(line, own) == "@")
            own, behind = ("", own) if at_place else (own, "")
            intro = told.get(line, NO_INTRODUCTION)
            title = own or (intro.title if adds_to(intro.title, over) else over)
            at_hour = intro.clock and moment.grain is not Grain.MINUTE and moment.ends is None
            timed = at_hour_in(moment, hours_of(intro.clock), self.context) if at_hour else None
            if title:
                named, place = title_and_place(title)
                place = _unless_online(behind) or place or intro.place
                yield self.record(block, named, None, timed or moment, line, 0.4 if own else 0.35, place)

    def _records_of_hours(self, block: Element, lines: list[str], leaf: Leaf, year: int | None) -> Iterator[RawRecord]:
        """The events of a day that a block lists by the hour."""
        found = moments_in(leaf.element.text, self.context, year)
        day = found[0][2] if found else leaf.date.moment
        for line in lines:
            timed = at_hour_in(day, line, self.context)
            title, place = title_and_place(title_from(line))
            if timed is not None and title:
                yield self.record(block, title, None, timed, f"{leaf.element.text} {line}", 0.45, place)

    def _introductions_in(self, block: Element, dated: set[str]) -> dict[str, Introduction]:
        """What the lines above each run of dated lines say of them."""
        found: dict[str, Introduction] = {}
        current, pending = NO_INTRODUCTION, list[str]()
        for line in block.lines(without=is_label):
            if line not in dated:
                pending.append(line)
                continue
            if pending:
                current, pending = introduction_in(pending[-MOST_LINES:]), []
            found.setdefault(line, current)
        return found

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
            named, place = title_and_place(title)
            if _names_its_place(title, element) and (over := self._title_over(item)):
                named, place = over, _unless_online(title)
            yield self.record(item, named, element, use, f"{written} {item.text[:100]}", 0.5, place)


def _is_online(element: Element) -> bool:
    """Whether what follows a date says how to join, and nothing else: the date itself is the event's."""
    return _ONLINE.search(element.text) is not None


_ONLINE = re.compile(r"\b(?:zoom|webex|teams|virtual\w*|online|livestream|youtube|video ?conference)\b", re.IGNORECASE)


def _names_its_place(title: str, element: Element | None) -> bool:
    """Whether what was taken for a title is where it is: a line's words, or those of a link beside its date."""
    if ONLINE_PLACE.match(title):
        return True
    if element is None:
        return looks_like_place(title) and not _SEPARATED.search(title)
    return element.tag == "a" and is_place(without_paperwork(title)) and title != element.text


def _remark(text: str, title: str) -> str:
    """How what was taken for a title is said of a bare date: `@` where it is, `(` as a remark; '' if neither."""
    if _AT_PLACE.search(text[: text.find(title)]) is not None:
        return "@"
    return "(" if text.endswith(f"({title})") and not without_dates(text.removesuffix(f"({title})")) else ""


_AT_PLACE = re.compile(r"\d(?:st|nd|rd|th|[ap]\.?m\.?)?,?\s*@\s*$", re.IGNORECASE)


def _unless_online(place: str) -> str:
    return "" if ONLINE_PLACE.match(place) else place


def _is_another_day(element: Element, lead: Element) -> bool:
    """Whether a date beside the first is a further day: of the same list, or in a column that names no end."""
    if element.parent is not lead.parent:
        return False
    return element.tag != "td" or (bool(name := header_of(element)) and not _END_COLUMN.search(name))


def _is_timed(leaf: Leaf) -> bool:
    return leaf.date.moment.grain is Grain.MINUTE


def _is_named(leaf: Leaf) -> bool:
    """Whether a date is named by itself: a bare `today` or `this weekend` with no title is a filter's."""
    return "@" in leaf.date.place or any(character.isdigit() for character in leaf.element.text)


def _unless_address(place: str) -> str:
    """A place, unless it is an address on the web: there a meeting is seen, not held."""
    return "" if place.startswith(("http", "www.")) else _PREPOSITION.sub("", place)


_SEPARATED = re.compile(r"\s[\u2013\u2014|-]\s|: ")
_PREPOSITION = re.compile(r"^(?:in|at|bij|te|im|am|\u00e0)\s+(?:the\s+)?(?=[A-Z\d])")


def _iso(moment: Moment) -> str:
    return moment.starts.isoformat(timespec="minutes") if moment.grain is Grain.MINUTE else moment.day.isoformat()
