"""Judging a raw event: what it must have, what it is worth, and which event it is."""

from datetime import datetime, timedelta, tzinfo
from enum import StrEnum
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from tidemill.core.identity import fingerprint, normalized
from tidemill.core.record import RawRecord
from tidemill.core.source import Coordinates, Source
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context
from tidemill.reading.moments import VAGUE, Moment
from tidemill.reading.text import plain, squash
from tidemill.verticals.events.categories import category_of, category_of_section
from tidemill.verticals.events.dating import When, when
from tidemill.verticals.events.gazetteer import town
from tidemill.verticals.events.images import picture
from tidemill.verticals.events.raw_fields import RawEvent, text_fields
from tidemill.verticals.events.record import (
    Category,
    Event,
    EventStatus,
    Method,
    Precision,
    StructuredLocation,
)

LONG_PAST = timedelta(days=400)
"""An event that ended longer ago than this is history, not an agenda."""
TOO_FAR = timedelta(days=3 * 366)
"""A start further ahead than this is a slip of the pen or a default of the site's software."""

NO_OCCASIONS = frozenset({"BroadcastEvent", "DeliveryEvent", "OnDemandEvent", "PublicationEvent"})
"""Kinds of schema.org's Event to which nobody can go."""

_LONGEST_TITLE, _LONGEST_DESCRIPTION, _LONGEST_NAME, _LONGEST_URL = 300, 5_000, 200, 2_000
_RULES, _SCHEDULED = Method.RULES, EventStatus.SCHEDULED
_VENUE, _CITY, _UNKNOWN = Precision.VENUE, Precision.CITY, Precision.UNKNOWN
"""What nearly every event has, reached once: Python 3.11 takes as long to reach a member as to compare ten."""
_MOST_PLACES, _LONGEST_REMEMBERED = 4_096, 500
_STATUS = {
    "": EventStatus.SCHEDULED, "eventscheduled": EventStatus.SCHEDULED,
    "eventcancelled": EventStatus.CANCELLED, "eventcanceled": EventStatus.CANCELLED, "cancelled": EventStatus.CANCELLED,
    "canceled": EventStatus.CANCELLED, "eventpostponed": EventStatus.POSTPONED, "postponed": EventStatus.POSTPONED,
    "eventrescheduled": EventStatus.RESCHEDULED, "eventmovedonline": EventStatus.MOVED_ONLINE,
}  # fmt: skip


CONFIDENCE_FLOOR = 0.2
"""A reading that is less sure is set aside for a person: a guessed year, another weekday, a title from far away."""


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
    UNSURE = "unsure"
    NO_PLACE = "no_place"


def judge(raw: RawRecord, context: Context) -> Verdict:
    """Keep the event, drop it or set it aside, with the reason. Pure: the same record is always judged the same."""
    fields = text_fields(raw.fields)
    title = plain(fields.title, _LONGEST_TITLE)
    if not any(map(str.isalnum, title)):
        return Dropped(Reason.NO_TITLE, title)
    if fields.kind in NO_OCCASIONS:
        return Dropped(Reason.NO_OCCASION, f"{fields.kind}: {title}"[:200])
    written = _written_date(fields)
    if not written:
        return Dropped(Reason.UNREADABLE_DATE, fields.unread) if fields.unread else Dropped(Reason.NO_DATE, title)
    dated = when(written, fields.ends.strip(), context.read_at, context.source)
    if dated is None:
        return Dropped(Reason.UNREADABLE_DATE, written[:200])
    refusal = _refusal(dated.moment, dated.ends, context.read_at)
    if refusal is None and raw.confidence < CONFIDENCE_FLOOR:
        refusal = Quarantined(Reason.UNSURE, f"read with a confidence of {raw.confidence:.2f}: {title}"[:200])
    if refusal is not None:
        return replace(refusal, subject=_named(fields)) if isinstance(refusal, Quarantined) else refusal
    return _placed(fields, _event(fields, title, dated, context, raw.confidence), context.source)


def _placed(fields: RawEvent, event: Event, source: Source) -> Verdict:
    """An event without coordinates is shown to nobody: it waits until its source names a town, or says where it is."""
    identity = _identity(fields, event)
    if event.latitude is not None:
        return Accepted(identity, event)
    return Quarantined(Reason.NO_PLACE, _unplaced(fields, event.title, source), identity)


def _unplaced(fields: RawEvent, title: str, source: Source) -> str:
    """Why nobody can tell where an event is, and what helps."""
    named = " nor ".join(repr(town[:60]) for town in dict.fromkeys((fields.city.strip(), source.city)) if town)
    known = (
        f"{named} is no town that is known in {source.time_zone}" if named else "neither page nor source names a town"
    )
    return f"{title[:100]}: {known}; give the source a city that is known, or coordinates"


def _written_date(fields: RawEvent) -> str:
    starts = fields.starts.strip()
    return f"{starts} {time}" if fields.time and starts and (time := fields.time.strip()) else starts


def _refusal(moment: Moment, ends: datetime | None, now: datetime) -> Verdict | None:
    if moment.grain in VAGUE:
        return Dropped(Reason.VAGUE_DATE, moment.text[:200])
    earliest, latest = _window(now, moment.starts.tzinfo)
    if (ends or moment.starts) < earliest:
        return Dropped(Reason.LONG_PAST, moment.starts.isoformat(), harmless=True)
    if moment.starts > latest:
        return Dropped(Reason.TOO_FAR, moment.starts.isoformat(), harmless=True)
    if moment.year_given and moment.weekday_agrees is False:
        return Quarantined(Reason.CONTRADICTORY_DATE, f"{moment.text[:150]}: that day is no such weekday")
    return None


@lru_cache(maxsize=64)
def _window(now: datetime, zone: tzinfo | None) -> tuple[datetime, datetime]:
    """Between which moments an event is worth keeping, told in the zone that they are compared in."""
    return (now - LONG_PAST).astimezone(zone), (now + TOO_FAR).astimezone(zone)


def _event(fields: RawEvent, title: str, dated: When, context: Context, sure: float) -> Event:
    moment, date, source = dated.moment, dated.date, context.source
    if fields.written:
        date = replace(date, source_text=fields.written[:200])
    lowered, description = title.lower(), plain(fields.description, _LONGEST_DESCRIPTION)
    location = _PLACES[fields.place, fields.address, fields.postal_code, fields.city, fields.country]
    latitude, longitude, precision = _coordinates(fields, source)
    return Event(  # by place, as the class has them: to name so many takes four times as long
        title,
        description,
        moment.starts,
        date.start_time or "TBD",
        dated.ends,
        location.name or location.address or location.city or source.city or source.name,
        category_of(fields.kind, fields.category, title, description, _section(context.page_url)),
        picture(fields.image) if fields.image else None,
        fields.url[:_LONGEST_URL] or None,
        latitude,
        longitude,
        precision,
        source.id,
        source.name,
        _confidence(sure, moment.year_given, moment.weekday_agrees),
        _RULES,
        date,
        location,
        fingerprint(_counted(title, lowered), dated.day, str(source.id)),
        _status(fields.status.lower(), lowered),
        squash(fields.organizer)[:_LONGEST_NAME],
    )


def _section(page_url: str) -> Category | None:
    return category_of_section(page_url) if page_url else None


def _counted(title: str, lowered: str) -> str:
    """The title as it counts for identity; one that is tidy already and in ASCII only loses its case."""
    return lowered if title.isascii() else normalized(title)


def _identity(fields: RawEvent, event: Event) -> str:
    """The source's own id or detail address where it is the event's alone, else the fingerprint."""
    return _named(fields) or event.fingerprint


def _named(fields: RawEvent) -> str:
    """The source's own id, or the detail address where it is the event's alone; '' if it has neither."""
    if fields.id:
        return f"id:{fields.id[:_LONGEST_NAME]}"
    url = fields.url[:_LONGEST_URL]
    if not url or fields.shared_url:
        return ""
    try:
        canonical = canonicalize(url)
    except BadUrl:
        return ""
    return canonical + url[url.index("#") :] if "#" in url else canonical


def _tidy_place(place: str, address: str, postal_code: str, city: str, country: str) -> StructuredLocation:
    return StructuredLocation(
        name=plain(place, _LONGEST_NAME) if place else "",
        address=squash(address)[:_LONGEST_NAME],
        postal_code=postal_code.strip()[:20],
        city=squash(city)[:_LONGEST_NAME],
        country=country.strip()[:60],
    )


class _Places(dict[tuple[str, str, str, str, str], StructuredLocation]):
    """Places in their parts as said, and tidied once: agendas name few. All are forgotten when they are too many."""

    def __missing__(self, fields: tuple[str, str, str, str, str]) -> StructuredLocation:
        tidied = _tidy_place(*fields)
        if len(self) >= _MOST_PLACES:
            self.clear()
        if sum(map(len, fields)) <= _LONGEST_REMEMBERED:
            self[fields] = tidied
        return tidied


_PLACES = _Places()


def _coordinates(fields: RawEvent, source: Source) -> tuple[float | None, float | None, Precision]:
    latitude, longitude = _degrees(fields.latitude, 90), _degrees(fields.longitude, 180)
    if latitude is not None and longitude is not None and (latitude or longitude):
        return latitude, longitude, _VENUE
    place, precision = _home(fields.city.strip(), source.city, source.time_zone), _CITY
    if place is None and source.coordinates is not None:
        place, precision = source.coordinates, Precision.SOURCE
    elif place is None:
        place = _home(source.city, "", source.time_zone)
    return (None, None, _UNKNOWN) if place is None else (place.latitude, place.longitude, precision)


@lru_cache(maxsize=4_096)
def _home(city: str, source_city: str, time_zone: str) -> Coordinates | None:
    """The town's own coordinates, from the offline gazetteer; the source's own town is left to its own coordinates."""
    if not city or city == source_city:
        return None
    known = town(city, time_zone)
    return None if known is None else known.coordinates


def _degrees(value: Any, most: int) -> float | None:
    degrees = value if value.__class__ is float else _number(value)
    return degrees if degrees is not None and -most <= degrees <= most else None


def _number(value: Any) -> float | None:
    try:
        return float(value.strip().replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return None


def _status(fields: str, title: str) -> EventStatus:
    """What the status says, or the title; both in lower case."""
    status = _STATUS.get(fields)
    if status is None:
        status = EventStatus.CANCELLED if _says_cancelled(fields) else _SCHEDULED
    return EventStatus.CANCELLED if status is _SCHEDULED and _says_cancelled(title) else status


def _says_cancelled(text: str) -> bool:
    return (
        ("cancel" in text and ("cancelled" in text or "canceled" in text))
        or "geannuleerd" in text
        or "afgelast" in text
        or "gaat niet door" in text
    )


@lru_cache(maxsize=256)
def _confidence(sure: float, year_given: bool, weekday_agrees: bool | None) -> float:  # noqa: FBT001 - a moment's own
    """How sure the reading was, less what had to be guessed about the date."""
    guessed = (0.0 if year_given else 0.1) + (0.1 if weekday_agrees is False else 0.0)
    return round(max(0.05, sure - guessed), 3)
