"""Export of events as JSON Lines or CSV, in constant memory."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.operations.mistakes import NotFound, unknown_name
from tidemill.pipeline.ports import Clock
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.upkeep.audit import AuditLog
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import EventFilter, EventView

PAGE_SIZE = 1_000
COLUMNS = (
    "id", "title", "event_date", "ends_at", "event_time", "venue_name", "category", "status", "latitude", "longitude",
    "source_name", "first_seen_at", "last_seen_at", "updated_at", "times_seen", "gone_at", "detail_url", "image_url",
    "description",
)  # fmt: skip
_RECORD_COLUMNS = ("detail_url", "image_url", "description")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Also in the full width of East Asian text, which spreadsheets take for the same signs."""


class Format(StrEnum):
    """The format of an export."""

    JSONL = "jsonl"
    CSV = "csv"


class Exporter:
    """Streams events, one page in memory at a time."""

    def __init__(self, views: EventViews, sources: SourceRepository, audit: AuditLog, clock: Clock) -> None:
        """Read from the views; every export is audited."""
        self._views = views
        self._sources = sources
        self._audit = audit
        self._clock = clock

    async def start(self, which: EventFilter, form: Format, actor: str) -> AsyncIterator[bytes]:
        """Audit the export, then return the events that match the filter, as bytes."""
        if which.source is not None and await self._sources.find(which.source) is None:
            raise NotFound(unknown_name("source", which.source, await self._sources.names()))
        note = AuditEntry(actor, "events.export", "events", {"format": form.value})
        await self._audit.note([note], self._clock.now())
        return self.events(which, form)

    async def events(self, which: EventFilter, form: Format) -> AsyncIterator[bytes]:
        """Yield the events that match the filter, as bytes."""
        if form is Format.CSV:
            yield _csv_lines([COLUMNS])
        async for page in self._pages(which):
            yield json_lines(page) if form is Format.JSONL else csv_lines(page)

    async def _pages(self, which: EventFilter) -> AsyncIterator[list[EventView]]:
        page = await self._views.events(which, limit=PAGE_SIZE)
        while page:
            yield page
            if len(page) < PAGE_SIZE:
                return
            page = await self._views.events(which, after=page[-1].cursor, limit=PAGE_SIZE)


_encode = msgspec.json.Encoder().encode


def json_lines(page: Sequence[EventView]) -> bytes:
    """Return one JSON object per line."""
    return b"".join(_encode(event) + b"\n" for event in page)


def csv_lines(page: Sequence[EventView]) -> bytes:
    """Return one CSV row per event."""
    return _csv_lines([_row(event) for event in page])


def _row(event: EventView) -> list[Any]:
    record = msgspec.json.decode(event.record)
    values = (record.get(name) if name in _RECORD_COLUMNS else getattr(event, name) for name in COLUMNS)
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value  # or a spreadsheet would take scraped text for a formula
    return value


def _csv_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode()
