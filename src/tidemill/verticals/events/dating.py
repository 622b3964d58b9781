"""When an event is: the moment that its page names, an end that can be believed, and both in their parts."""

from datetime import datetime, timedelta
from functools import lru_cache

import msgspec

from tidemill.core.source import Source
from tidemill.reading.moments import Grain, Moment, parse_end, parse_iso, parse_moment, zone_of
from tidemill.verticals.events.record import StructuredDate

LONGEST_RUN = timedelta(days=2 * 366)
"""An end further from its start than this is not believed."""

_ONE_DAY = timedelta(days=1)
_MINUTE = Grain.MINUTE
_CLOCKS = tuple(f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60))
_LONGEST_REMEMBERED = 80


class When(msgspec.Struct, frozen=True, gc=False):
    """A moment with the event's own end, if it has one; `date` is what readers get, `day` its first day in ISO."""

    moment: Moment
    ends: datetime | None
    date: StructuredDate
    day: str


def when(starts: str, ends: str, now: datetime, source: Source) -> When | None:
    """When an event is that starts and ends as written; None if nobody can tell.

    A stamp means the same whenever it is read, and agendas name the same hours again on every visit: what follows
    from one is remembered.
    """
    zone, language = source.time_zone, source.language
    if starts[4:5] == "-" and len(starts) + len(ends) <= _LONGEST_REMEMBERED:
        stamped = _stamped(starts, ends, zone, language)
        if stamped is not None:
            return stamped
    moment = parse_moment(starts, now, zone, language, day_first=_day_first(zone, language))
    return _until(ends, moment, zone, language) if moment is not None and moment.date_given else None


@lru_cache(maxsize=4_096)
def _stamped(starts: str, ends: str, time_zone: str, language: str) -> When | None:
    """When an event is that starts at an ISO 8601 stamp; None if it is none."""
    moment = parse_iso(starts, zone_of(time_zone))
    return None if moment is None else _until(ends, moment, time_zone, language)


def _until(written: str, moment: Moment, time_zone: str, language: str) -> When:
    """The moment with its end: the event's own field, or what its date says."""
    ends = moment.ends if moment.grain is not Grain.PART else None  # an evening's end is nobody's closing hour
    if written:
        day_first = _day_first(time_zone, language)
        ends = parse_end(written, moment, time_zone, language, day_first=day_first) or ends
    ends = _believable(ends, moment.starts)
    date = _structured_date(moment, ends, time_zone)
    return When(moment, ends, date, date.start.isoformat())


def _believable(ends: datetime | None, starts: datetime) -> datetime | None:
    """An end that cannot be is no end."""
    if ends is None:
        return None
    if ends < starts and starts - ends < _ONE_DAY:
        ends += _ONE_DAY  # "23:00-02:00", both written with the first day
    return ends if starts <= ends <= starts + LONGEST_RUN else None


def _structured_date(moment: Moment, ends: datetime | None, time_zone: str) -> StructuredDate:
    timed = moment.grain is _MINUTE
    return StructuredDate(
        start=moment.starts.date(),
        end=(ends or moment.starts).date(),
        start_time=_clock(moment.starts) if timed else None,
        end_time=_clock(ends) if ends is not None and timed else None,
        all_day=moment.all_day,
        time_zone=time_zone,
        source_text=moment.text[:200],
    )


def _clock(moment: datetime) -> str:
    return _CLOCKS[moment.hour * 60 + moment.minute]


def _day_first(time_zone: str, language: str) -> bool | None:
    """English in Europe writes the day first; elsewhere the language decides."""
    return True if language == "en" and time_zone.startswith("Europe/") else None
