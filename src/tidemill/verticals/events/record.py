"""An event as readers get it."""

from datetime import date, datetime
from enum import StrEnum

import msgspec


class Category(StrEnum):
    """The ten kinds of event; what fits none is of the community."""

    ACTIVE = "active"
    GAMING = "gaming"
    ENTERTAINMENT = "entertainment"
    SOCIAL = "social"
    FAMILY = "family"
    OUTDOORS = "outdoors"
    MUSIC = "music"
    WORKSHOPS = "workshops"
    FOODIE = "foodie"
    COMMUNITY = "community"


class Precision(StrEnum):
    """How near an event's coordinates are: its venue's, its city's, its source's own, or none known yet."""

    VENUE = "venue"
    CITY = "city"
    SOURCE = "source"
    UNKNOWN = "unknown"


class Method(StrEnum):
    """Who made the fields out of the raw record."""

    RULES = "rules"
    AI = "ai"
    HYBRID = "hybrid"


class EventStatus(StrEnum):
    """What the source says about the event going ahead."""

    SCHEDULED = "scheduled"
    CANCELLED = "cancelled"
    POSTPONED = "postponed"
    RESCHEDULED = "rescheduled"
    MOVED_ONLINE = "moved_online"


class StructuredDate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The date in its parts, and the words that it was read from."""

    start: date
    end: date
    start_time: str | None
    end_time: str | None
    all_day: bool
    time_zone: str
    source_text: str


class StructuredLocation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The place in its parts, as far as the page tells them."""

    name: str = ""
    address: str = ""
    postal_code: str = ""
    city: str = ""
    country: str = ""


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that happens at a place on a day.

    `title` is never empty; `description` may be. `event_date` is aware, at midnight of its day when
    `event_time` is 'TBD'. `ends_at` is None when the source names no end.
    """

    title: str
    description: str
    event_date: datetime
    event_time: str
    ends_at: datetime | None
    venue_name: str
    category: Category
    image_url: str | None
    detail_url: str | None
    latitude: float | None
    longitude: float | None
    location_precision: Precision
    source_id: int
    source_name: str
    confidence: float
    normalization_method: Method
    structured_date: StructuredDate
    structured_location: StructuredLocation
    fingerprint: str
    status: EventStatus = EventStatus.SCHEDULED
    organizer: str = ""
