"""The hour of a day that stands elsewhere in its block."""

import re

from tidemill.reading.moments import Grain, Moment, parse_moments
from tidemill.reading.outline import Element
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.dating import LONGEST
from tidemill.verticals.events.reading.heuristics.wording import unnumbered, without_dates

_CLOCK = re.compile(r"\d[:.h]\d\d|\d\s*(?:[ap]\.?m?\b|uur|u\b)", re.IGNORECASE)
_HOURLY = re.compile(rf"{_CLOCK.pattern}|\b(?:noon|midnight|middernacht|half|kwart|quarter)\b|o'clock", re.IGNORECASE)
_SHORT_CLOCK = re.compile(r"\d{1,2}(?::\d\d)?[ap]", re.IGNORECASE)
_DOORS = re.compile(r"\b(?:inloop|deur(?:en)?|doors?|zaal open|ontvangst)\b", re.IGNORECASE)
_LONGEST_CLOCK = 40


def has_hour(text: str) -> bool:
    """Whether a text seems to name an hour."""
    return _CLOCK.search(text) is not None


def with_hour(moment: Moment, block: Element, leaf: Element, context: ReadingContext) -> Moment:
    """A bare day with the hour that its block tells: by itself in an element, else in its words."""
    if moment.grain is Grain.MINUTE or moment.ends is not None or not _HOURLY.search(block.text):
        return moment
    clocked = with_hour_of_element(moment, block, context)
    if clocked is not None or len(block.text) > LONGEST:
        return clocked or moment
    rest = unnumbered(block.text) if leaf is block else block.text.replace(leaf.text, " ", 1)
    return at_hour_in(moment, rest, context) or moment


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


def at_hour_in(moment: Moment, text: str, context: ReadingContext) -> Moment | None:
    """The moment's day at the hour that a text names; None if it names none, or that of another day."""
    line = f"{moment.day.isoformat()} {text[:LONGEST]}"
    for timed in parse_moments(line, context.now, context.time_zone, context.language):
        if timed.day == moment.day and timed.grain is Grain.MINUTE:
            return timed
    return None
