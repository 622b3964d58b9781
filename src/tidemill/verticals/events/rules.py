"""Judging a raw event: what it must have, what it is worth, and which event it is (E1-E3)."""

import re
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any

from tidemill.core.identity import fingerprint, normalized
from tidemill.core.record import RawRecord
from tidemill.core.source import Source
from tidemill.core.urls import BadUrl, canonicalize
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context
from tidemill.reading.moments import VAGUE, Grain, Moment, parse_end, parse_moment
from tidemill.reading.text import plain, squash
from tidemill.verticals.events.categories import category_of
from tidemill.verticals.events.record import (
    Event,
    Method,
    Precision,
    Status,
    StructuredDate,
    StructuredLocation,
)

LONG_PAST = timedelta(days=400)
"""An event that ended longer ago than this is history, not an agenda."""
TOO_FAR = timedelta(days=3 * 366)
"""A start further ahead than this is a slip of the pen or a default of the site's software."""
LONGEST_RUN = timedelta(days=2 * 366)
"""An end further from its start than this is not believed."""

NO_OCCASIONS = frozenset({"BroadcastEvent", "DeliveryEvent", "OnDemandEvent", "PublicationEvent"})
"""Kinds of schema.org's Event to which nobody can go."""

_LONGEST_TITLE, _LONGEST_DESCRIPTION, _LONGEST_NAME, _LONGEST_URL = 300, 5_000, 200, 2_000
_HAS_LETTERS = re.compile(r"[^\W_]")
_STATUS = {
    "eventcancelled": Status.CANCELLED, "eventcanceled": Status.CANCELLED, "cancelled": Status.CANCELLED,
    "canceled": Status.CANCELLED, "eventpostponed": Status.POSTPONED, "postponed": Status.POSTPONED,
    "eventrescheduled": Status.RESCHEDULED, "eventmovedonline": Status.MOVED_ONLINE,
}  # fmt: skip
_SAYS_CANCELLED = re.compile("geannuleerd|afgelast|gaat niet door|cancelled|canceled", re.IGNORECASE)
_TRACKERS = re.compile(r"pixel|1x1|spacer|tracking|beacon|/tr\?|\.gif", re.IGNORECASE)


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
    fields = raw.fields
    title = plain(_text(fields, "title"), _LONGEST_TITLE)
    if not _HAS_LETTERS.search(title):
        return Dropped(Reason.NO_TITLE, title)
    if fields.get("kind") in NO_OCCASIONS:
        return Dropped(Reason.NO_OCCASION, f"{fields['kind']}: {title}"[:200])
    written = _written_date(fields)
    if not written:
        return Dropped(Reason.NO_DATE, title)
    source = context.source
    moment = parse_moment(written, context.read_at, source.time_zone, source.language, day_first=_day_first(source))
    if moment is None or not moment.date_given:
        return Dropped(Reason.UNREADABLE_DATE, written[:200])
    ends = _end(fields, moment, context)
    refusal = _refusal(moment, ends, context.read_at)
    if refusal is not None:
        return refusal
    event = _event(raw, title, moment, ends, source)
    return Accepted(_identity(fields, event), event)


def _day_first(source: Source) -> bool | None:
    """English in Europe writes the day first; elsewhere the language decides."""
    return True if source.language == "en" and source.time_zone.startswith("Europe/") else None


def _text(fields: Any, name: str) -> str:
    value = fields.get(name)
    if value.__class__ is str:  # nearly always, and asked for a dozen times an event
        return value
    return "" if value is None or isinstance(value, bool | dict | list) else str(value)


def _written_date(fields: Any) -> str:
    starts, time = _text(fields, "starts").strip(), _text(fields, "time").strip()
    return f"{starts} {time}" if starts and time else starts


def _end(fields: Any, moment: Moment, context: Context) -> datetime | None:
    """The event's end: its own field, or what its date says; an end that cannot be is no end."""
    source, written = context.source, _text(fields, "ends").strip()
    ends = moment.ends
    if written:
        ends = parse_end(written, moment, source.time_zone, source.language, day_first=_day_first(source)) or ends
    if ends is None:
        return None
    if ends < moment.starts and moment.starts - ends < timedelta(days=1):
        ends += timedelta(days=1)  # "23:00-02:00", both written with the first day
    return ends if moment.starts <= ends <= moment.starts + LONGEST_RUN else None


def _refusal(moment: Moment, ends: datetime | None, now: datetime) -> Verdict | None:
    if moment.grain in VAGUE:
        return Dropped(Reason.VAGUE_DATE, moment.text[:200])
    earliest, latest = _window(now)
    if (ends or moment.starts) < earliest:
        return Dropped(Reason.LONG_PAST, moment.starts.isoformat())
    if moment.starts > latest:
        return Dropped(Reason.TOO_FAR, moment.starts.isoformat())
    if moment.year_given and moment.weekday_agrees is False:
        return Quarantined(Reason.CONTRADICTORY_DATE, f"{moment.text[:150]}: that day is no such weekday")
    return None


@lru_cache(maxsize=64)
def _window(now: datetime) -> tuple[datetime, datetime]:
    """Between which moments an event is worth keeping."""
    return now - LONG_PAST, now + TOO_FAR


def _event(raw: RawRecord, title: str, moment: Moment, ends: datetime | None, source: Source) -> Event:
    fields = raw.fields
    description = plain(_text(fields, "description"), _LONGEST_DESCRIPTION)
    location = _location(fields)
    latitude, longitude, precision = _coordinates(fields, source)
    return Event(
        title=title,
        description=description,
        event_date=moment.starts,
        event_time=_clock(moment.starts) if moment.grain is Grain.MINUTE else "TBD",
        ends_at=ends,
        venue_name=location.name or location.address or location.city or source.city or source.name,
        category=category_of(_text(fields, "kind"), _text(fields, "category"), title, description),
        image_url=_image(fields),
        detail_url=_text(fields, "url")[:_LONGEST_URL] or None,
        latitude=latitude,
        longitude=longitude,
        location_precision=precision,
        source_id=source.id,
        source_name=source.name,
        confidence=_confidence(raw, moment),
        normalization_method=Method.RULES,
        structured_date=_structured_date(moment, ends, source, _text(fields, "written")),
        structured_location=location,
        fingerprint=fingerprint(normalized(title), moment.starts.date().isoformat(), str(source.id)),
        status=_status(fields, title),
        organizer=squash(_text(fields, "organizer"))[:_LONGEST_NAME],
    )


def _identity(fields: Any, event: Event) -> str:
    """The source's own id or detail address where it is the event's alone (E3), else the fingerprint."""
    own = _text(fields, "id")
    if own:
        return f"id:{own[:_LONGEST_NAME]}"
    url = event.detail_url
    if url is None or fields.get("shared_url"):
        return event.fingerprint
    try:
        canonical = canonicalize(url)
    except BadUrl:
        return event.fingerprint
    _, mark, fragment = url.partition("#")
    return canonical + mark + fragment


def _location(fields: Any) -> StructuredLocation:
    name = _text(fields, "place")
    return StructuredLocation(
        name=plain(name, _LONGEST_NAME) if name else "",
        address=squash(_text(fields, "address"))[:_LONGEST_NAME],
        postal_code=_text(fields, "postal_code").strip()[:20],
        city=squash(_text(fields, "city"))[:_LONGEST_NAME],
        country=_text(fields, "country").strip()[:60],
    )


def _coordinates(fields: Any, source: Source) -> tuple[float | None, float | None, Precision]:
    latitude, longitude = _degrees(fields.get("latitude"), 90), _degrees(fields.get("longitude"), 180)
    if latitude is not None and longitude is not None and (latitude or longitude):
        return latitude, longitude, Precision.VENUE
    if source.coordinates is not None:
        return source.coordinates.latitude, source.coordinates.longitude, Precision.SOURCE
    return None, None, Precision.UNKNOWN


def _degrees(value: Any, most: int) -> float | None:
    try:
        degrees = float(value.strip().replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return None
    return degrees if -most <= degrees <= most else None


def _image(fields: Any) -> str | None:
    url = _text(fields, "image")
    if not url or len(url) > _LONGEST_URL:
        return None
    return None if _TRACKERS.search(url) else url


def _status(fields: Any, title: str) -> Status:
    said = _text(fields, "status")
    status = _STATUS.get(said.lower(), Status.SCHEDULED)
    if status is Status.SCHEDULED and (_SAYS_CANCELLED.search(title) or _SAYS_CANCELLED.search(said)):
        return Status.CANCELLED
    return status


def _confidence(raw: RawRecord, moment: Moment) -> float:
    """How sure the reading was, less what had to be guessed about the date."""
    guessed = (0.0 if moment.year_given else 0.1) + (0.1 if moment.weekday_agrees is False else 0.0)
    return round(max(0.05, raw.confidence - guessed), 3)


def _clock(moment: datetime) -> str:
    return f"{moment.hour:02}:{moment.minute:02}"


def _structured_date(moment: Moment, ends: datetime | None, source: Source, written: str) -> StructuredDate:
    timed = moment.grain is Grain.MINUTE
    return StructuredDate(
        start=moment.starts.date(),
        end=(ends or moment.starts).date(),
        start_time=_clock(moment.starts) if timed else None,
        end_time=_clock(ends) if ends is not None and timed else None,
        all_day=moment.all_day,
        time_zone=source.time_zone,
        source_text=(written or moment.text)[:200],
    )
