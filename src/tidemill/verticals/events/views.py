"""Events as readers ask for them and get them: filters, cursors and cards."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self

import msgspec

from tidemill.core.source import Coordinates
from tidemill.core.views.records import BadCursor, EventCursor, EventView, HistoryView, PageDetail

_NO_PLACE = "{!r} is not a place in the feed; leave it out to start at the beginning"


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
