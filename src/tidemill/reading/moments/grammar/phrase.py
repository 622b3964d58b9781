"""A phrase that is a date from its first word to its last, read by the grammar."""

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

from tidemill.reading.moments.grammar.rules import reduced
from tidemill.reading.moments.grammar.tokens import tokens_of
from tidemill.reading.moments.grammar.when import Stretch, TimeConstraints, is_date, resolved
from tidemill.reading.moments.moment import LAST_MINUTE, Grain, Moment, in_zone, local
from tidemill.reading.moments.words import FULL_MONTHS, MONTHS

LONGEST = 80
"""Characters of a phrase; a longer text is more than a date."""
_GRAINS = {
    "m": Grain.MINUTE, "H": Grain.MINUTE, "X": Grain.MINUTE,
    "h": Grain.MINUTE, "p": Grain.PART, "d": Grain.DAY, "D": Grain.DAY,
    "w": Grain.WEEK, "M": Grain.MONTH, "q": Grain.MONTH, "y": Grain.MONTH, "t": Grain.MONTH,
}  # fmt: skip
_NO_DATES = (frozenset(MONTHS) - FULL_MONTHS) | {"ma", "di", "wo", "do", "vr", "za", "zo", "24/7"}
"""Short names of months, which are words or names of their own when they stand alone; and `24/7`, always."""

_LABEL = re.compile(r"\d{1,2}[ap]\.?")
"""`4a`: a number of a house, a room or a platform rather than an hour."""


def parse_phrase(text: str, now: datetime, zone: ZoneInfo, language: str, *, day_first: bool) -> Moment | None:
    """The moment that a prepared text means as a whole; None when any of its words is no part of a date.

    `now` is on the zone's clocks.
    """
    if len(text) > LONGEST or text in _NO_DATES or _LABEL.fullmatch(text):
        return None
    tokens = tokens_of(text, language[:2], day_first=day_first)
    if not tokens:
        return None
    here = now.replace(tzinfo=None)
    try:
        when = reduced(tokens, here)
        span = resolved(when, here) if when is not None else None
    except (ValueError, OverflowError):  # a day that no calendar has
        return None
    return _moment(when, span, zone) if when is not None and span is not None else None


def _moment(when: TimeConstraints, span: Stretch, zone: ZoneInfo) -> Moment:
    fits = None if when.weekday is None else span.start.weekday() == when.weekday
    return Moment(
        starts=_at(span.start, when, zone),
        ends=_end(span, when, zone),
        grain=_GRAINS[span.grain],
        date_given=is_date(when),
        year_given=when.year is not None or when.within is not None,
        weekday_agrees=fits if when.month is not None or when.year is not None else None,
    )


def _end(span: Stretch, when: TimeConstraints, zone: ZoneInfo) -> datetime | None:
    if span.grain in {"H", "p"}:
        return _at(span.end, when, zone)
    days = span.end - span.start > timedelta(days=1)
    if span.grain in {"D", "X", "q"} or (span.grain == "d" and days):
        last = span.end - timedelta(minutes=1)
        return local(datetime.combine(last.date(), LAST_MINUTE), zone)
    return None


def _at(moment: datetime, when: TimeConstraints, zone: ZoneInfo) -> datetime:
    if when.offset is None or timedelta(hours=when.offset) in _offsets_of(zone):
        return local(moment, zone)
    return in_zone(moment.replace(tzinfo=timezone(timedelta(hours=when.offset))), zone)


@lru_cache(maxsize=256)
def _offsets_of(zone: ZoneInfo) -> frozenset[timedelta | None]:
    """The offsets of a zone in winter and in summer: pages write EST all year round, and mean their own clocks."""
    return frozenset(zone.utcoffset(datetime(2026, month, 1)) for month in (1, 7))  # noqa: DTZ001 - a wall-clock time
