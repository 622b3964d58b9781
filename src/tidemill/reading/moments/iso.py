"""ISO 8601 and its near misses: the shape that nearly all structured data has, read without any grammar."""

import re
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from tidemill.reading.moments.moment import Grain, Moment, in_zone, local

_DAY_LENGTH = 10
_LONGEST_REMEMBERED = 40
_LOOSE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:[T\s]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r"\s*(?P<offset>Z|UTC|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?"
)
_COMPACT = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d(?:T\d{4}(?:\d\d)?Z?)?")
_EARLIEST, _LATEST = 1900, 2200


def parse_iso(text: str, zone: ZoneInfo) -> Moment | None:
    """The moment that an ISO 8601 text names; None if it is none, or of a day that never was.

    A time with an offset is told in the zone's own hours. A midnight with no offset, as date-only systems
    write it, still counts as a time. Agendas name the same hours again on every visit, so they are remembered.
    """
    if text[4:5] != "-" and _COMPACT.fullmatch(text) is None:
        return None
    return _remembered(text, zone) if len(text) <= _LONGEST_REMEMBERED else _stamp(text, zone)


def _stamp(text: str, zone: ZoneInfo) -> Moment | None:
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        tidied = _tidied(text)
        if tidied is None:
            return None
        text, stamp = tidied
    if not _EARLIEST <= stamp.year <= _LATEST or text[5:6] in "Ww":
        return None
    if len(text) <= _DAY_LENGTH and "T" not in text:
        return Moment(starts=local(stamp, zone), text=text)
    starts = in_zone(stamp, zone) if stamp.tzinfo is not None else local(stamp, zone)
    if starts.microsecond:
        starts = starts.replace(microsecond=0)
    return Moment(starts=starts, grain=Grain.MINUTE, text=text)


_remembered = lru_cache(maxsize=8_192)(_stamp)


def _tidied(text: str) -> tuple[str, datetime] | None:
    match = _LOOSE.fullmatch(text.strip())
    if match is None:
        return None
    spelled = f"{match['year']}-{int(match['month']):02}-{int(match['day']):02}"
    if match["hour"]:
        spelled += f"T{int(match['hour']):02}:{match['minute']}:{match['second'] or '00'}"
        offset = match["offset"] or ""
        spelled += "+00:00" if offset in {"Z", "UTC"} else offset
    try:
        return spelled, datetime.fromisoformat(spelled)
    except ValueError:
        return None
