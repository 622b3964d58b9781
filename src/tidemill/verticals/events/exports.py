"""What of events can be exported: the records of each source, and the agenda as readers see it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import msgspec

from tidemill.core.views.past import Cause
from tidemill.core.views.records import key_place
from tidemill.operations.exporting.dataset import ColumnKind, ExportDataset, ExportFormat, ExportRow, columns
from tidemill.operations.exporting.past_pages import filled_page
from tidemill.pipeline.ports import Clock
from tidemill.verticals.events.calendars import (
    CALENDAR_END,
    RSS_END,
    calendar_begin,
    calendar_entries,
    rss_begin,
    rss_items,
)
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.past import PastEvent, PastEvents
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import CardFilter, CardView, EventCursor, EventFilter, EventView

OUR_NAME = "tidemill.invalid"
"""Stands for us in files, which do not know under which name we are called."""
_TEXT, _MOMENT, _WHOLE, _NUMBER = ColumnKind.TEXT, ColumnKind.MOMENT, ColumnKind.WHOLE, ColumnKind.NUMBER
_TOLD = ("detail_url", "image_url", "description")


class AgendaExportFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events; days are whole, in UTC, the last one included."""

    text: str | None = None
    category: Category | None = None
    source: str | None = None
    date_from: date | None = None
    date_to: date | None = None


class EventExportFilter(AgendaExportFilter, frozen=True, kw_only=True):
    """The same, with those that are gone if asked for."""

    gone: bool = False


def event_datasets(views: EventViews, past: PastEvents, cards: CardReader, clock: Clock) -> Sequence[ExportDataset]:
    """Return the datasets of events."""

    async def records(which: EventExportFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        wanted = EventFilter(
            text=which.text, category=which.category, source=which.source, include_gone=which.gone,
            date_from=_begin(which.date_from), date_to=_end(which.date_to),
        )  # fmt: skip
        found = await views.events(wanted, after=_cursor(after), limit=limit)
        return [_record_row(event) for event in found]

    async def records_then(
        which: EventExportFilter, after: str | None, limit: int, moment: datetime
    ) -> Sequence[ExportRow]:
        async def load(place: int, count: int) -> tuple[Sequence[ExportRow], int | None]:
            found = await past.page(moment, place, count, which.source)
            wanted = [_past_row(each) for each in found if _was_wanted(each, which)]
            return wanted, found[-1].id if len(found) == count else None

        return await filled_page(load, after, limit)

    async def agenda(which: AgendaExportFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        found = await cards.by_date(_cards_wanted(which), after=_cursor(after), limit=limit)
        return [_card_row(card) for card in found]

    async def agenda_then(
        which: AgendaExportFilter, after: str | None, limit: int, moment: datetime
    ) -> Sequence[ExportRow]:
        found = await cards.past.by_key(_cards_wanted(which), moment, after=key_place(after), limit=limit)
        return [replace(_card_row(card), cursor=str(card.id)) for card in found]

    async def causes_of_events(
        rows: Sequence[ExportRow], begin: datetime, end: datetime
    ) -> Mapping[str, Sequence[Cause]]:
        known = await past.causes([int(row.values["id"]) for row in rows], begin, end)
        return {str(key): causes for key, causes in known.items()}

    async def causes_of_cards(
        rows: Sequence[ExportRow], begin: datetime, end: datetime
    ) -> Mapping[str, Sequence[Cause]]:
        """Return the causes of the events behind each card."""
        members: dict[str, Sequence[int]] = {str(row.values["id"]): row.thing.members for row in rows}
        known = await past.causes(sorted({key for keys in members.values() for key in keys}), begin, end)
        return {card: [cause for key in keys for cause in known.get(key, ())] for card, keys in members.items()}

    return [
        ExportDataset(
            name="events",
            about="Events as each source tells of them, by date.",
            columns=columns(
                id=_WHOLE, title=_TEXT, event_date=_MOMENT, ends_at=_MOMENT, event_time=_TEXT, venue_name=_TEXT,
                category=_TEXT, status=_TEXT, latitude=_NUMBER, longitude=_NUMBER, source_name=_TEXT,
                first_seen_at=_MOMENT, last_seen_at=_MOMENT, updated_at=_MOMENT, times_seen=_WHOLE, gone_at=_MOMENT,
                detail_url=_TEXT, image_url=_TEXT, description=_TEXT, record=ColumnKind.JSON,
            ),
            filters=EventExportFilter,
            load=records,
            load_past=records_then,
            load_causes=causes_of_events,
            listed=("id", "title", "event_date", "venue_name", "category", "status", "source_name"),
        ),
        ExportDataset(
            name="agenda",
            about="What is on as readers see it: each event once, whoever tells of it.",
            columns=columns(
                id=_WHOLE, title=_TEXT, event_date=_MOMENT, ends_at=_MOMENT, event_time=_TEXT, venue_name=_TEXT,
                category=_TEXT, status=_TEXT, latitude=_NUMBER, longitude=_NUMBER, sources=_TEXT, updated_at=_MOMENT,
                detail_url=_TEXT, image_url=_TEXT, description=_TEXT, record=ColumnKind.JSON,
            ),
            filters=AgendaExportFilter,
            load=agenda,
            load_past=agenda_then,
            load_causes=causes_of_cards,
            listed=("id", "title", "event_date", "venue_name", "category", "status", "sources"),
            documents={ExportFormat.ICALENDAR: CalendarWriter, ExportFormat.RSS: lambda: RssWriter(clock.now())},
        ),
    ]  # fmt: skip


def _cards_wanted(which: AgendaExportFilter) -> CardFilter:
    return CardFilter(
        text=which.text, category=which.category, source=which.source,
        date_from=_begin(which.date_from), date_to=_end(which.date_to),
    )  # fmt: skip


def _record_row(event: EventView) -> ExportRow:
    return _row(event, ("first_seen_at", "last_seen_at", "times_seen", "gone_at", "source_name"))


def _past_row(past: PastEvent) -> ExportRow:
    event = past.event
    names = ("title", "event_date", "ends_at", "event_time", "venue_name", "latitude", "longitude", *_TOLD)
    values = {name: getattr(event, name) for name in names}
    own = {"id": past.id, "category": event.category.value, "status": event.status.value}
    seen = {"source_name": past.source_name, "first_seen_at": past.first_seen_at}
    return ExportRow(str(past.id), {**values, **own, **seen, "record": msgspec.to_builtins(event)}, past)


def _was_wanted(past: PastEvent, which: EventExportFilter) -> bool:
    """Return whether an event as it was is one that is asked for."""
    event, begin, end = past.event, _begin(which.date_from), _end(which.date_to)
    text = (which.text or "").casefold()
    return (
        (which.gone or not past.is_gone)
        and (which.category is None or event.category == which.category)
        and (begin is None or event.event_date >= begin)
        and (end is None or event.event_date < end)
        and (text in event.title.casefold() or text in event.venue_name.casefold())
    )


def _card_row(card: CardView) -> ExportRow:
    return _row(card, ("sources",))


_SHARED = ("id", "title", "event_date", "ends_at", "event_time", "venue_name", "category", "status", "latitude",
           "longitude", "updated_at")  # fmt: skip


def _row(thing: EventView | CardView, own: Sequence[str]) -> ExportRow:
    record: dict[str, Any] = msgspec.json.decode(thing.record)
    values = {name: getattr(thing, name) for name in (*_SHARED, *own)}
    told = {name: record.get(name) for name in _TOLD}
    return ExportRow(thing.cursor.text, {**values, **told, "record": record}, thing)


def _cursor(text: str | None) -> EventCursor | None:
    return None if text is None else EventCursor.parse(text)


def _begin(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(0), UTC)


def _end(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(0), UTC) + timedelta(days=1)


class CalendarWriter:
    """The agenda as iCalendar (RFC 5545)."""

    def begin(self) -> bytes:
        """Open the calendar."""
        return calendar_begin("Tidemill").encode()

    def page(self, rows: Sequence[ExportRow]) -> bytes:
        """Return an entry per event."""
        return calendar_entries((row.thing for row in rows), OUR_NAME).encode("utf-8", "replace")

    def end(self) -> bytes:
        """Close the calendar."""
        return CALENDAR_END.encode()


class RssWriter:
    """The agenda as RSS 2.0."""

    def __init__(self, now: datetime) -> None:
        """Made now."""
        self._now = now

    def begin(self) -> bytes:
        """Open the feed."""
        return rss_begin("Tidemill: what is on", f"https://{OUR_NAME}", self._now).encode()

    def page(self, rows: Sequence[ExportRow]) -> bytes:
        """Return an item per event."""
        return rss_items((row.thing for row in rows), f"https://{OUR_NAME}").encode("utf-8", "replace")

    def end(self) -> bytes:
        """Close the feed."""
        return RSS_END.encode()
