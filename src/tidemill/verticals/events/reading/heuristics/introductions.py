"""What the lines right above a list of bare dates say of all: whose meetings they are, at what hour, and where."""

import re
from collections.abc import Sequence

import msgspec

from tidemill.core.record import RawRecord
from tidemill.reading.moments import parse_moment
from tidemill.reading.outline import HEADINGS, Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.fields import labelled_place
from tidemill.verticals.events.reading.heuristics.hours import at_hour_in
from tidemill.verticals.events.reading.heuristics.places import looks_like_place
from tidemill.verticals.events.reading.heuristics.wording import title_from, without_dates, without_paperwork

MOST_LINES, _LONGEST_LINE, _LONGEST_PART, _CLIMB = 8, 140, 700, 3
_LONGEST_TITLE = 90
_CLOCK = re.compile(r"\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?\s?m\b|uur\b|uhr\b)|\d{1,2}:\d\d\b|\bnoon\b", re.IGNORECASE)
_RECURS = re.compile(
    r"\b(?:1st|2nd|3rd|4th|first|second|third|fourth|last|every|each|monthly|weekly|eerste|tweede|derde|vierde|laatste"
    r"|elke|iedere|maandelijks|all meetings|alle vergaderingen|meets?|meetings?|held|begins?|starts?|aanvang"
    r"|time|tijd)\b",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"\b(?:committee|board|commission|council|authority|coalition|task force|panel|trustees|directors|meetings?"
    r"|hearings?"
    r"|raad|commissie|vergadering|bestuur|werkgroep|club|koor|ausschuss|gemeinderat|sitzung|conseil|consejo|consiglio"
    r"|concert|cursus|course|class|workshop|training|lecture|lezing|market|markt|tour)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\b(?:meetings?|schedule|agenda|calendar|dates|vergader\w*|kalender|programma)\b", re.IGNORECASE)
_WORD = re.compile(r"\w{3,}")
_PLAIN = re.compile(r"(?:meetings?|board|regular|schedule|the|and|for|dates?|public|annual|vergadering(?:en)?|\d+)")
_ORDER = re.compile(r"\[(\d+)\]$")


class Introduction(msgspec.Struct, frozen=True, gc=False):
    """What the lines above a list of dates tell; '' for what they leave out."""

    title: str = ""
    clock: str = ""
    place: str = ""


NO_INTRODUCTION = Introduction()


def with_introductions(
    records: Sequence[RawRecord], elements: Sequence[Element], found: Sequence[Leaf], context: ReadingContext
) -> list[RawRecord]:
    """The records, those of bare dates completed with what the lines above their list say."""
    dated = _dated_orders(found)
    known: dict[int, dict[int, list[str]]] = {}
    completed = []
    for record in records:
        match = _ORDER.search(record.origin)
        block = elements[int(match[1])] if match and int(match[1]) < len(elements) else None
        lines = _lines_over(block, dated, known) if block is not None and _is_bare(block) else []
        name = str(record.fields["title"]).casefold()
        lines = [line for line in lines if line.casefold() not in name]  # whose meetings they are is not where
        completed.append(_completed(record, introduction_in(lines), context) if lines else record)
    return completed


def introduction_in(lines: Sequence[str]) -> Introduction:
    """What a few lines tell of the dates under them."""
    clock = next((line for line in lines if _states_hour(line)), "")
    places = [place for line in lines if (place := _place_in(line))]
    title = next((title for line in lines if (title := _title_in(line))), "")
    return Introduction(title, clock, ", ".join(dict.fromkeys(places[:2])))


def _states_hour(line: str) -> bool:
    """Whether a line tells an hour, and nothing else or how often: office hours and telephones tell more."""
    return _CLOCK.search(line) is not None and (not without_dates(line) or _RECURS.search(line) is not None)


def _place_in(line: str) -> str:
    bare = looks_like_place(line) and not line.endswith(".") and not _ABOUT.search(line)
    place = labelled_place(line) or (without_dates(line) if bare else "")
    return "" if place.startswith(("http", "www.")) else place


def _title_in(line: str) -> str:
    if len(line) > _LONGEST_TITLE or line.endswith((".", ":")) or looks_like_place(line) or _CLOCK.search(line):
        return ""
    title = without_paperwork(title_from(line))
    return title if _BODY.search(title) else ""


def _dated_orders(found: Sequence[Leaf]) -> set[int]:
    """The elements that tell a date somewhere inside."""
    orders: set[int] = set()
    for leaf in found:
        element: Element | None = leaf.element
        while element is not None and element.order not in orders:
            orders.add(element.order)
            element = element.parent
    return orders


def _is_bare(block: Element) -> bool:
    """Whether a block is a date and little more: a note in brackets, an hour."""
    return len(without_dates(block.text)) <= _LONGEST_LINE and not any(one.tag in HEADINGS for one in block.walk())


def _lines_over(block: Element, dated: set[int], known: dict[int, dict[int, list[str]]]) -> list[str]:
    """The lines between the list that a block is an item of and what stands above them, of a few containers."""
    element, lines = block, list[str]()
    for _ in range(_CLIMB):
        if element.parent is None or len(lines) >= MOST_LINES:
            break
        lines = [*_introductions(element.parent, dated, known).get(element.order, []), *lines]
        element = element.parent
    return lines[-MOST_LINES:]


def _introductions(parent: Element, dated: set[int], known: dict[int, dict[int, list[str]]]) -> dict[int, list[str]]:
    """For each dated child of an element the lines above its run of dates; one pass, remembered."""
    if parent.order in known:
        return known[parent.order]
    over: dict[int, list[str]] = {}
    current: list[str] = []
    pending: list[str] = []
    for part in parent.content:
        if isinstance(part, Element) and part.order in dated:
            current, pending = (pending[-MOST_LINES:], []) if pending else (current, pending)
            over[part.order] = current
        else:
            pending = _gathered(part, pending)
    known[parent.order] = over
    return over


def _gathered(part: Element | str, pending: list[str]) -> list[str]:
    """The lines so far and those of one more part; a heading begins anew, and long text is none of it."""
    if isinstance(part, str):
        line = " ".join(part.split())
        return [*pending[-MOST_LINES:], line] if 0 < len(line) <= _LONGEST_LINE else pending
    if part.tag in HEADINGS:
        pending = []
    if part.tag == "h1":  # what the page is about is not where it is
        return pending
    if len(part.text) > _LONGEST_PART:
        return []
    lines = [line for line in part.lines() if len(line) <= _LONGEST_LINE]
    return [*pending[-MOST_LINES:], *lines]


def _completed(record: RawRecord, told: Introduction, context: ReadingContext) -> RawRecord:
    fields = dict(record.fields)
    starts = str(fields["starts"])
    if told.clock and "T" not in starts and "ends" not in fields:
        moment = parse_moment(starts, context.now, context.time_zone)
        timed = at_hour_in(moment, hours_of(told.clock), context) if moment is not None else None
        if timed is not None:
            fields["starts"] = timed.starts.isoformat(timespec="minutes")
    if told.place and "place" not in fields:
        fields["place"] = told.place
    return msgspec.structs.replace(record, fields=fields) if fields != record.fields else record


def adds_to(title: str, known: str) -> bool:
    """Whether a title names more than the one that is known: not the same in fewer words, or `Board meeting`."""
    told = {word for word in _WORD.findall(title.casefold()) if not _PLAIN.fullmatch(word)}
    return bool(told) and not told <= set(_WORD.findall(known.casefold()))


def hours_of(line: str) -> str:
    """The hours of a line, from the first on: `1st Monday at 1:00 p.m.` begins with a weekday of its own."""
    match = _CLOCK.search(line)
    return line[match.start() :] if match else ""
