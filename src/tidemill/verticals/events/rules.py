"""Judging a raw event: what it must have, what it is worth, and which event it is (E1-E3)."""

import re
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum
from functools import lru_cache
from typing import Any

from tidemill.core.identity import fingerprint, normalized
from tidemill.core.record import RawRecord
from tidemill.core.source import Coordinates, Source
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context
from tidemill.reading.moments import VAGUE, Grain, Moment, parse_end, parse_moment
from tidemill.reading.text import plain, squash
from tidemill.verticals.events.categories import category_of
from tidemill.verticals.events.gazetteer import town
from tidemill.verticals.events.images import picture
from tidemill.verticals.events.record import (
    Event,
    Method,
    Precision,
    Status,
    StructuredDate,
    StructuredLocation,
)
from tidemill.verticals.events.said import Said, said_in

LONG_PAST = timedelta(days=400)
"""An event that ended longer ago than this is history, not an agenda."""
TOO_FAR = timedelta(days=3 * 366)
"""A start further ahead than this is a slip of the pen or a default of the site's software."""
LONGEST_RUN = timedelta(days=2 * 366)
"""An end further from its start than this is not believed."""

NO_OCCASIONS = frozenset({"BroadcastEvent", "DeliveryEvent", "OnDemandEvent", "PublicationEvent"})
"""Kinds of schema.org's Event to which nobody can go."""

_LONGEST_TITLE, _LONGEST_DESCRIPTION, _LONGEST_NAME, _LONGEST_URL = 300, 5_000, 200, 2_000
_MINUTE, _RULES, _SCHEDULED = Grain.MINUTE, Method.RULES, Status.SCHEDULED
_VENUE, _CITY = Precision.VENUE, Precision.CITY
"""What nearly every event has, reached once: Python 3.11 takes as long to reach a member as to compare ten."""
_ONE_DAY = timedelta(days=1)
_CLOCKS = tuple(f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60))
_LONGEST_REMEMBERED = 500
_HAS_LETTERS = re.compile(r"[^\W_]")
_STATUS = {
    "eventcancelled": Status.CANCELLED, "eventcanceled": Status.CANCELLED, "cancelled": Status.CANCELLED,
    "canceled": Status.CANCELLED, "eventpostponed": Status.POSTPONED, "postponed": Status.POSTPONED,
    "eventrescheduled": Status.RESCHEDULED, "eventmovedonline": Status.MOVED_ONLINE,
}  # fmt: skip
_CANCELLED_WORDS = ("geannuleerd", "afgelast", "gaat niet door", "cancelled", "canceled")


class Reason(StrEnum):
    """Why an event was not kept."""

    NO_TITLE = "no_title"
    NO_DATE = "no_date"
    UNREADABLE_DATE = "unreadable_date"
    NO_OCCASION = "no_occasion"
    VAGUE_DATE = "vague_date"
    LONG_PAST = "long_past"
    TOO_FAR = "too_far_ahead"
    CONTRADICTORY_DATE = "contradictory_date"


def judge(raw: RawRecord, context: Context) -> Verdict:
    """Keep the event, drop it or set it aside, with the reason. Pure: the same record is always judged the same."""
    said = said_in(raw.fields)
    title = plain(said.title, _LONGEST_TITLE)
    if not _HAS_LETTERS.search(title):
        return Dropped(Reason.NO_TITLE, title)
    if said.kind in NO_OCCASIONS:
        return Dropped(Reason.NO_OCCASION, f"{said.kind}: {title}"[:200])
    written = _written_date(said)
    if not written:
        return Dropped(Reason.NO_DATE, title)
    source = context.source
    moment = parse_moment(written, context.read_at, source.time_zone, source.language, day_first=_day_first(source))
    if moment is None or not moment.date_given:
        return Dropped(Reason.UNREADABLE_DATE, written[:200])
    ends = _end(said.ends.strip(), moment, source)
    refusal = _refusal(moment, ends, context.read_at)
    if refusal is not None:
        return refusal
    event = _event(said, title, moment, ends, source, raw.confidence)
    return Accepted(_identity(said, event), event)


def _day_first(source: Source) -> bool | None:
    """English in Europe writes the day first; elsewhere the language decides."""
    return True if source.language == "en" and source.time_zone.startswith("Europe/") else None


def _written_date(said: Said) -> str:
    starts, time = said.starts.strip(), said.time.strip()
    return f"{starts} {time}" if starts and time else starts


def _end(written: str, moment: Moment, source: Source) -> datetime | None:
    """The event's end: its own field, or what its date says; an end that cannot be is no end."""
    starts, ends = moment.starts, moment.ends
    if written:
        ends = parse_end(written, moment, source.time_zone, source.language, day_first=_day_first(source)) or ends
    if ends is None:
        return None
    if ends < starts and starts - ends < _ONE_DAY:
        ends += _ONE_DAY  # "23:00-02:00", both written with the first day
    return ends if starts <= ends <= starts + LONGEST_RUN else None


def _refusal(moment: Moment, ends: datetime | None, now: datetime) -> Verdict | None:
    if moment.grain in VAGUE:
        return Dropped(Reason.VAGUE_DATE, moment.text[:200])
    earliest, latest = _window(now, moment.starts.tzinfo)
    if (ends or moment.starts) < earliest:
        return Dropped(Reason.LONG_PAST, moment.starts.isoformat())
    if moment.starts > latest:
        return Dropped(Reason.TOO_FAR, moment.starts.isoformat())
    if moment.year_given and moment.weekday_agrees is False:
        return Quarantined(Reason.CONTRADICTORY_DATE, f"{moment.text[:150]}: that day is no such weekday")
    return None


@lru_cache(maxsize=64)
def _window(now: datetime, zone: tzinfo | None) -> tuple[datetime, datetime]:
    """Between which moments an event is worth keeping, told in the zone that they are compared in."""
    return (now - LONG_PAST).astimezone(zone), (now + TOO_FAR).astimezone(zone)


def _event(said: Said, title: str, moment: Moment, ends: datetime | None, source: Source, sure: float) -> Event:
    description = plain(said.description, _LONGEST_DESCRIPTION)
    date = _structured_date(moment, ends, source, said.written)
    location = _location(said)
    latitude, longitude, precision = _coordinates(said, source)
    return Event(
        title=title,
        description=description,
        event_date=moment.starts,
        event_time=date.start_time or "TBD",
        ends_at=ends,
        venue_name=location.name or location.address or location.city or source.city or source.name,
        category=category_of(said.kind, said.category, title, description),
        image_url=picture(said.image) if said.image else None,
        detail_url=said.url[:_LONGEST_URL] or None,
        latitude=latitude,
        longitude=longitude,
        location_precision=precision,
        source_id=source.id,
        source_name=source.name,
        confidence=_confidence(sure, moment.year_given, moment.weekday_agrees),
        normalization_method=_RULES,
        structured_date=date,
        structured_location=location,
        fingerprint=fingerprint(normalized(title), date.start.isoformat(), str(source.id)),
        status=_status(said.status, title),
        organizer=squash(said.organizer)[:_LONGEST_NAME],
    )


def _identity(said: Said, event: Event) -> str:
    """The source's own id or detail address where it is the event's alone (E3), else the fingerprint."""
    if said.id:
        return f"id:{said.id[:_LONGEST_NAME]}"
    url = event.detail_url
    if url is None or said.shared_url:
        return event.fingerprint
    try:
        canonical = canonicalize(url)
    except BadUrl:
        return event.fingerprint
    _, mark, fragment = url.partition("#")
    return canonical + mark + fragment


def _location(said: Said) -> StructuredLocation:
    """The place in its parts; an agenda names few different ones, so each of ordinary length is tidied once."""
    parts = said.place, said.address, said.postal_code, said.city, said.country
    return _remembered_place(*parts) if sum(map(len, parts)) <= _LONGEST_REMEMBERED else _tidy_place(*parts)


def _tidy_place(place: str, address: str, postal_code: str, city: str, country: str) -> StructuredLocation:
    return StructuredLocation(
        name=plain(place, _LONGEST_NAME) if place else "",
        address=squash(address)[:_LONGEST_NAME],
        postal_code=postal_code.strip()[:20],
        city=squash(city)[:_LONGEST_NAME],
        country=country.strip()[:60],
    )


_remembered_place = lru_cache(maxsize=4_096)(_tidy_place)


def _coordinates(said: Said, source: Source) -> tuple[float | None, float | None, Precision]:
    latitude, longitude = _degrees(said.latitude, 90), _degrees(said.longitude, 180)
    if latitude is not None and longitude is not None and (latitude or longitude):
        return latitude, longitude, _VENUE
    place, precision = _home(said.city.strip(), source.city, source.time_zone), _CITY
    if place is None and source.coordinates is not None:
        place, precision = source.coordinates, Precision.SOURCE
    elif place is None:
        place = _home(source.city, "", source.time_zone)
    return (None, None, Precision.UNKNOWN) if place is None else (place.latitude, place.longitude, precision)


@lru_cache(maxsize=4_096)
def _home(city: str, source_city: str, time_zone: str) -> Coordinates | None:
    """The town's own coordinates, from the offline gazetteer; the source's own town is left to its own coordinates."""
    if not city or city == source_city or time_zone != "Europe/Amsterdam":
        return None
    known = town(city)
    return None if known is None else known.coordinates


def _degrees(value: Any, most: int) -> float | None:
    degrees = value if value.__class__ is float else _number(value)
    return degrees if degrees is not None and -most <= degrees <= most else None


def _number(value: Any) -> float | None:
    try:
        return float(value.strip().replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return None


def _status(said: str, title: str) -> Status:
    status = _STATUS.get(said.lower(), _SCHEDULED)
    if status is _SCHEDULED and _holds_any(_CANCELLED_WORDS, f"{title}\n{said}".lower()):
        return Status.CANCELLED
    return status


def _holds_any(words: tuple[str, ...], text: str) -> bool:
    for word in words:  # noqa: SIM110 - a generator for any() costs more than the whole search, twice an event
        if word in text:
            return True
    return False


@lru_cache(maxsize=256)
def _confidence(sure: float, year_given: bool, weekday_agrees: bool | None) -> float:  # noqa: FBT001 - a moment's own
    """How sure the reading was, less what had to be guessed about the date."""
    guessed = (0.0 if year_given else 0.1) + (0.1 if weekday_agrees is False else 0.0)
    return round(max(0.05, sure - guessed), 3)


def _clock(moment: datetime) -> str:
    return _CLOCKS[moment.hour * 60 + moment.minute]


def _structured_date(moment: Moment, ends: datetime | None, source: Source, written: str) -> StructuredDate:
    timed = moment.grain is _MINUTE
    return StructuredDate(
        start=moment.starts.date(),
        end=(ends or moment.starts).date(),
        start_time=_clock(moment.starts) if timed else None,
        end_time=_clock(ends) if ends is not None and timed else None,
        all_day=moment.all_day,
        time_zone=source.time_zone,
        source_text=(written or moment.text)[:200],
    )
