"""Events as readers ask for them and get them: filters, cursors and cards."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import msgspec

from tidemill.core.source import Coordinates
from tidemill.core.views.records import BadCursor, HistoryView, PageDetail

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_NO_PLACE = "{!r} is not a place in the feed; leave it out to start at the beginning"


class EventCursor(msgspec.Struct, frozen=True):
    """The last event already seen; written as text it is what a client passes on."""

    event_date: datetime
    id: int

    @property
    def text(self) -> str:
        """Microseconds since 1970 and the key."""
        return f"{(self.event_date - EPOCH) // MICROSECOND}.{self.id}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The cursor that `text` writes."""
        try:
            micros, key = text.split(".")
            return cls(EPOCH + int(micros) * MICROSECOND, int(key))
        except (ValueError, OverflowError) as error:
            msg = f"{text!r} is not a place in the list of events; leave it out to start at the beginning"
            raise BadCursor(msg) from error


class EventFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events; None means any. `text` is looked for in titles and venues; `date_to` is not included."""

    text: str | None = None
    category: str | None = None
    source: str | None = None
    date_from: datetime | None = None
    date_to: datetime | None = None
    status: str | None = None
    include_gone: bool = False


class EventView(msgspec.Struct, frozen=True, kw_only=True):
    """An event as it is published; `record` is its whole record, ready as JSON."""

    id: int
    source_id: int
    source_name: str
    identity: str
    title: str
    event_date: datetime
    ends_at: datetime | None
    event_time: str
    venue_name: str
    category: str
    latitude: float | None
    longitude: float | None
    status: str
    page_id: int
    first_seen_at: datetime
    last_seen_at: datetime
    updated_at: datetime
    times_seen: int
    missed_runs: int
    gone_at: datetime | None
    record: msgspec.Raw

    @property
    def cursor(self) -> EventCursor:
        """Where the list goes on after this event."""
        return EventCursor(self.event_date, self.id)


class EventDetail(msgspec.Struct, frozen=True, kw_only=True):
    """An event with its history, oldest first, and the page that it was last read from."""

    event: EventView
    history: Sequence[HistoryView]
    page: PageDetail | None


class Around(msgspec.Struct, frozen=True):
    """A circle on the map."""

    centre: Coordinates
    kilometres: float


class CardFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events; None means any. Of the words in `text` the last may be a beginning; `date_to` is not included."""

    text: str | None = None
    category: str | None = None
    source: str | None = None
    around: Around | None = None
    date_from: datetime | None = None
    date_to: datetime | None = None


class CardView(msgspec.Struct, frozen=True, kw_only=True):
    """An event as readers see it; `record` is its whole record, `provenance` whose word each field is."""

    id: int
    source_id: int
    source_name: str
    title: str
    event_date: datetime
    ends_at: datetime | None
    event_time: str
    venue_name: str
    category: str
    latitude: float | None
    longitude: float | None
    status: str
    sources: Sequence[str]
    members: Sequence[int]
    provenance: Mapping[str, Any]
    record: msgspec.Raw
    updated_at: datetime
    score: float | None = None

    @property
    def cursor(self) -> EventCursor:
        """Where the list goes on after this event."""
        return EventCursor(self.event_date, self.id)


class EventStory(msgspec.Struct, frozen=True, kw_only=True):
    """One source's event with its history and its page, and the card on which it is shown with what others say."""

    event: EventView
    history: Sequence[HistoryView]
    page: PageDetail | None
    card: CardView | None


class FeedCursor(msgspec.Struct, frozen=True, array_like=True):
    """The last event of a page of the feed, and as of when the feed is ranked: it stays so for all its pages."""

    as_of: datetime
    score: float
    id: int

    @property
    def text(self) -> str:
        """What a client passes on."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The cursor that `text` writes."""
        try:
            cursor = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
        except (binascii.Error, msgspec.DecodeError, ValueError) as error:
            raise BadCursor(_NO_PLACE.format(text)) from error
        if cursor.as_of.tzinfo is None or abs(cursor.id) >= 2**63:
            raise BadCursor(_NO_PLACE.format(text))
        return cursor
