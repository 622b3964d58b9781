"""Events, their history, the rejected records and the pages they came from, as they stand."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import msgspec

from tidemill.core.views.work import ReadingView

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class BadCursor(ValueError):
    """A place in a list that was not given by us; leave it out to start at the beginning."""


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


class HistoryView(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a record: field by field what it was and what it is."""

    id: int
    kind: str
    changes: Mapping[str, Any]
    run_id: int
    page_id: int | None
    created_at: datetime


class PageView(msgspec.Struct, frozen=True, kw_only=True):
    """A stored page, without its body."""

    id: int
    job_id: int
    source_id: int
    source_name: str
    target_id: int
    url: str
    final_url: str
    status_code: int
    content_type: str
    charset: str
    fetcher: str
    duration_ms: int
    length: int
    failure: str | None
    created_at: datetime


class PageDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A stored page with what was made of it."""

    page: PageView
    reading: ReadingView | None


class EventDetail(msgspec.Struct, frozen=True, kw_only=True):
    """An event with its history, oldest first, and the page that it was last read from."""

    event: EventView
    history: Sequence[HistoryView]
    page: PageDetail | None


class RejectedView(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was dropped or set aside, and why."""

    id: int
    job_id: int
    run_id: int
    source_id: int
    source_name: str
    page_id: int
    position: int
    vertical: str
    verdict: str
    reason: str
    detail: str
    raw: Mapping[str, Any]
    created_at: datetime


class RejectedFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which rejected records; None means any."""

    source_id: int | None = None
    run_id: int | None = None
    page_id: int | None = None
    verdict: str | None = None
    reason: str | None = None
