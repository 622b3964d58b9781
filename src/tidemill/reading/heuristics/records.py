"""Writing raw records from blocks."""

from collections.abc import Iterator

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.heuristics.blocks import Leaf
from tidemill.reading.heuristics.context import Surroundings
from tidemill.reading.heuristics.dating import LONGEST, is_posted, leads, moments_in
from tidemill.reading.heuristics.fields import (
    description_of,
    image_of,
    is_label,
    link_of,
    looks_like_place,
    place_of,
    title_of,
)
from tidemill.reading.heuristics.outline import Element
from tidemill.reading.heuristics.wording import is_title, stripped, title_from
from tidemill.reading.moments import Grain, Moment, parse_moment
from tidemill.reading.setting import Setting
from tidemill.reading.text import block_of

_SEVERAL = 3


class Scribe:
    """Writes records for one page; knows its setting and surroundings."""

    def __init__(self, document: Document, setting: Setting, around: Surroundings) -> None:
        """Keep what every record of the page needs."""
        self.document = document
        self.setting = setting
        self.around = around

    def of_block(self, block: Element, inside: list[Leaf], *, alike: int) -> Iterator[RawRecord]:
        """The events of one block: usually one; one a line, or one a follower, where it is a list in itself."""
        year = self.around.year_over(block)
        lines = self._dated_lines(block, year)
        if len({moment.day for _, moment in lines}) >= _SEVERAL and block.tag != "tr":
            yield from self._of_lines(block, lines)
            return
        if not stripped(block.text) and (followers := _followers(block)):
            yield from self._of_followers(block, followers, inside[0], year)
            return
        if block.text.isdigit() or not block.text:  # a day of a calendar with nothing on it
            return
        if is_posted(block.text):  # news: only a date that stands by itself is an event's
            inside = [leaf for leaf in inside if not stripped(leaf.element.text)]
            if not inside:
                return
        moment, written = self.moment_of(block, inside, year)
        title, element = title_of(block)
        place = ""
        if title and element is None and looks_like_place(title) and (over := self.around.title_over(block)):
            title, place = over, title
        sure = 0.5 if title else 0.35
        sure += 0.1 if alike >= _SEVERAL and title else 0.0
        title = title or self.around.title_over(block)
        if title:
            yield self.record(block, title, element, moment, written, sure, place)

    def record(
        self,
        block: Element,
        title: str,
        element: Element | None,
        moment: Moment,
        written: str,
        sure: float,
        place: str = "",
        url: str = "",
    ) -> RawRecord:
        """One raw record out of a block."""
        fields: dict[str, object] = {"title": title, "starts": _iso(moment), "written": written[:200]}
        if moment.ends is not None:
            fields["ends"] = moment.ends.isoformat(timespec="minutes")
        optional = {
            "place": place or place_of(block, title),
            "url": url or link_of(block, element, self.document),
            "image": image_of(block, self.document),
            "description": description_of(block, title),
        }
        fields.update({name: value for name, value in optional.items() if value and value != title})
        sure += (0.1 if moment.grain is Grain.MINUTE else 0.0) + (0.05 if "url" in fields else 0.0)
        sure -= 0.0 if moment.year_given else 0.1
        return RawRecord(
            fields=fields,
            strategy=Strategy.HEURISTICS,
            confidence=round(min(sure, 0.75), 2),
            origin=f"heuristics/{block.path()}[{block.order}]",
            places={name: element.path() if name == "title" and element else block.path() for name in fields},
            block=block_of(block.node.html or ""),
        )

    def moment_of(self, block: Element, inside: list[Leaf], year: int | None) -> tuple[Moment, str]:
        """The block's date with the most that is said about it: a stamp, else the smallest text with an hour."""
        first = inside[0]
        best, written = first.dated.moment, first.dated.written
        stamped = "@" in first.dated.place
        if stamped and best.grain is Grain.MINUTE and best.starts.time().isoformat() != "00:00:00":
            return self._checked(first, block), written
        element: Element | None = first.element
        while element is not None:
            if len(element.text) <= LONGEST:
                for _, _, moment in moments_in(element.text, self.setting, year):
                    better = moment.grain is Grain.MINUTE or (moment.year_given and not best.year_given) or moment.ends
                    if better or (moment.day != best.day and not stamped and element is first.element):
                        return moment, element.text
                    break
            if element is block:
                break
            element = element.parent
        found = moments_in(first.element.text, self.setting, year) if not stamped else ()
        best = found[0][2] if found else best
        return self._with_hour(best, block, first.element), written

    def _with_hour(self, moment: Moment, block: Element, leaf: Element) -> Moment:
        """A bare day with the hour that the rest of its block names."""
        if len(block.text) > LONGEST or moment.ends is not None:
            return moment
        rest = block.text.replace(leaf.text, " ", 1) if leaf.text else block.text
        timed = self.on_day(moment, rest)
        return timed if timed is not None else moment

    def on_day(self, moment: Moment, text: str) -> Moment | None:
        """The moment's day at the hour that a text names; None if it names none, or another day."""
        dated = f"{moment.day.isoformat()} {text[:LONGEST]}"
        timed = parse_moment(dated, self.setting.now, self.setting.time_zone, self.setting.language)
        return timed if timed is not None and timed.day == moment.day and timed.grain is Grain.MINUTE else None

    def _checked(self, leaf: Leaf, block: Element) -> Moment:
        """A stamp, unless it is in UTC and the words beside it tell the local time of the same event."""
        stamp = leaf.dated.moment
        if not leaf.dated.written.endswith(("Z", "+00:00", "+0000")):
            return stamp
        for text in (leaf.element.text, block.text[:LONGEST]):
            for _, _, moment in moments_in(text, self.setting):
                apart = abs((moment.starts.replace(tzinfo=None) - stamp.starts.replace(tzinfo=None)).total_seconds())
                if moment.grain is Grain.MINUTE and apart <= 14 * 3600:
                    return moment
        return stamp

    def _dated_lines(self, block: Element, year: int | None) -> list[tuple[str, Moment]]:
        found = []
        for line in block.lines(without=is_label):
            moments = moments_in(line, self.setting, year) if len(line) <= LONGEST else []
            crowded = len(moments) >= _SEVERAL
            if moments and (crowded or leads(moments[0][0], len(line))):
                found += [(line, moment) for _, _, moment in moments] if crowded else [(line, moments[0][2])]
        return found

    def _of_lines(self, block: Element, lines: list[tuple[str, Moment]]) -> Iterator[RawRecord]:
        crowded = len({line for line, _ in lines}) < len(lines)
        over = self.around.title_over(block)
        for line, moment in lines:
            own = "" if crowded else title_from(line)
            title = own or over
            if title:
                yield self.record(block, title, None, moment, line, 0.4 if own else 0.35)

    def _of_followers(
        self, block: Element, followers: list[Element], leaf: Leaf, year: int | None
    ) -> Iterator[RawRecord]:
        """The events under a date that stands as a heading: each item below it, with its own hour."""
        moment, written = self.moment_of(block, [leaf], year)
        items = _items(followers)
        for item in items or followers[:1]:
            title, element = title_of(item)
            if not title or not is_title(title):
                continue
            use = self.on_day(moment, item.text) or moment
            yield self.record(item, title, element, use, f"{written} {item.text[:100]}", 0.5)


def _iso(moment: Moment) -> str:
    return moment.starts.isoformat(timespec="minutes") if moment.grain is Grain.MINUTE else moment.day.isoformat()


def _followers(block: Element) -> list[Element]:
    """What comes after a bare date among its siblings, up to the next bare date."""
    parent = block.parent
    if parent is None:
        return []
    siblings = parent.children
    index = next(place for place, sibling in enumerate(siblings) if sibling is block)
    found: list[Element] = []
    for sibling in siblings[index + 1 :]:
        if sibling.kind == block.kind and not (block.tag == "tr" and stripped(sibling.text)):
            break
        if sibling.text:
            found.append(sibling)
    return found


def _items(followers: list[Element]) -> list[Element]:
    """The like items among the followers: the followers themselves, or the children of a list."""
    if len(followers) == 1:
        children = [child for child in followers[0].children if child.text]
        if (
            len(children) > 1
            and len({child.kind for child in children}) == 1
            and children[0].tag not in {"span", "a", "p", "br"}
        ):
            return children
        return followers
    return followers if len({follower.kind for follower in followers}) == 1 else followers[:1]
