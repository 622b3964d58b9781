"""The hour of a day that stands elsewhere in its block."""

import re

from tidemill.reading.moments import Grain, Moment, parse_moments
from tidemill.reading.outline import Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.dating import DATE_HINT, LONGEST
from tidemill.verticals.events.reading.heuristics.wording import title_from, unnumbered, without_dates

_CLOCK = re.compile(r"\d[:.h]\d\d|\d\s*(?:[ap]\.?m?\b|uur|u\b)", re.IGNORECASE)
_HOURLY = re.compile(rf"{_CLOCK.pattern}|\b(?:noon|midnight|middernacht|half|kwart|quarter)\b|o'clock", re.IGNORECASE)
_SHORT_CLOCK = re.compile(r"\d{1,2}(?::\d\d)?[ap]", re.IGNORECASE)
_DOORS = re.compile(r"\b(?:inloop|deur(?:en)?|doors?|zaal open|ontvangst)\b", re.IGNORECASE)
_LONGEST_CLOCK = 40
_MOST_LINES, _MOST_SENTENCES, _LONGEST_LINE = 40, 12, 2_000
_SENTENCES = re.compile(r"(?<=[a-z\d)]{2}\.)\s+(?=[A-Z])")


_LONGEST_DAY = 1_500
"""Characters of the list of one day's events."""
_AT_HOUR = re.compile(r"\d{1,2}(?:[.:h]\d\d)?\s*(?:[ap]\.?m\b|uur\b|u\b|h\b|uhr\b)|\d{1,2}[.:]\d\d\b", re.IGNORECASE)


def lines_by_hour(block: Element, date: Element) -> list[str]:
    """The lines under a bare date that each begin with an hour: `10.30am Family Service`."""
    if without_dates(date.text) or len(block.text) > _LONGEST_DAY:
        return []
    lines = block.lines()
    opens = bool(lines) and not without_dates(lines[0]) and lines[0] in date.text
    return [line for line in lines[1:] if _AT_HOUR.match(line) and title_from(line)] if opens else []


def has_hour(text: str) -> bool:
    """Whether a text seems to name an hour."""
    return _CLOCK.search(text) is not None


def with_hour(moment: Moment, block: Element, leaf: Element, context: ReadingContext) -> Moment:
    """A bare day with the hour that its block tells: by itself in an element, else in its words."""
    if moment.grain is Grain.MINUTE or moment.ends is not None or not _HOURLY.search(block.text):
        return moment
    clocked = with_hour_of_element(moment, block, context)
    if clocked is not None or len(block.text) > LONGEST:
        return clocked or _told_in_sentence(moment, block, context) or moment
    rest = unnumbered(block.text) if leaf.text == block.text else block.text.replace(leaf.text, " ", 1)
    return at_hour_in(moment, rest, context) or moment


def _told_in_sentence(moment: Moment, block: Element, context: ReadingContext) -> Moment | None:
    """The hour that a sentence of a long block tells with the same day: `will meet at 8:00 a.m. on Friday, July 21`."""
    for line in block.lines()[:_MOST_LINES]:
        for sentence in _SENTENCES.split(line[:_LONGEST_LINE])[:_MOST_SENTENCES]:
            if len(sentence) > LONGEST or not (DATE_HINT.search(sentence) and _CLOCK.search(sentence)):
                continue
            for timed in parse_moments(sentence, context.now, context.time_zone, context.language):
                same = (timed.starts.month, timed.starts.day) == (moment.starts.month, moment.starts.day)
                if same and timed.grain is Grain.MINUTE:
                    return at_hour_in(moment, f"{timed.starts:%H:%M}", context)
    return None


def with_hour_of_element(moment: Moment, block: Element, context: ReadingContext) -> Moment | None:
    """The day at the hour of the first element that tells an hour and nothing else.

    None for a day that has its hour or lasts for days, and where the doors open at an hour of their own.
    """
    if moment.grain is Grain.MINUTE or moment.ends is not None or _DOORS.search(block.text):
        return None
    for element in block.walk():
        text = element.text
        if 0 < len(text) <= _LONGEST_CLOCK and _CLOCK.search(text) and not without_dates(text):
            timed = at_hour_in(moment, f"{text}m" if _SHORT_CLOCK.fullmatch(text) else text, context)
            if timed is not None:
                return timed
    return None


_HALF_DAY = re.compile(r"^(\W*\d{1,2}(?::[0-5]\d)?[ap])(?=\s)")
"""`6:30p Bike Kitchen`, as calendars begin their entries."""


def at_hour_in(moment: Moment, text: str, context: ReadingContext) -> Moment | None:
    """The moment's day at the hour that a text names; None if it names none, or that of another day."""
    told = _HALF_DAY.sub(r"\1m", text[:LONGEST])
    line = f"{moment.day.isoformat()} {told}"
    for timed in parse_moments(line, context.now, context.time_zone, context.language):
        if timed.day == moment.day and timed.grain is Grain.MINUTE:
            return timed
    return None
