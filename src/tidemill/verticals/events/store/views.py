"""Single events, as each source tells of them, read for people and exports."""

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import func, or_, select

from tidemill.store.database.database import Database
from tidemill.store.schema import sources
from tidemill.store.schema.view_columns import view_columns
from tidemill.store.views.records import one_page, record_changes
from tidemill.verticals.events.store.tables import events
from tidemill.verticals.events.views import EventCursor, EventDetail, EventFilter, EventView

_NAMED = func.coalesce(sources.c.name, "").label("source_name")
_EVENTS = select(*view_columns(EventView, events), _NAMED).select_from(
    events.outerjoin(sources, sources.c.id == events.c.source_id)
)


class EventViews:
    """Reads events; changes nothing."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def events(
        self, which: EventFilter | None = None, *, after: EventCursor | None = None, limit: int = 100
    ) -> list[EventView]:
        """Return events by date; `after` is the cursor of the last one already seen."""
        query = _EVENTS.where(*_conditions(which or EventFilter())).limit(limit)
        query = query.order_by(events.c.event_date, events.c.id)
        if after is not None:
            later = or_(events.c.event_date > after.event_date, events.c.id > after.id)
            query = query.where(events.c.event_date >= after.event_date, later)
        async with self._database.published() as connection:
            return [_event(row) for row in (await connection.execute(query)).mappings()]

    async def event(self, event_id: int) -> EventDetail | None:
        """Return an event with its history and the page that it was read from."""
        async with self._database.published() as connection:
            row = (await connection.execute(_EVENTS.where(events.c.id == event_id))).mappings().first()
            if row is None:
                return None
            return EventDetail(
                event=_event(row),
                history=await record_changes(connection, "events", event_id),
                page=await one_page(connection, row["page_id"]),
            )


def _conditions(which: EventFilter) -> Iterator[Any]:
    if which.text is not None:
        words = (column.icontains(which.text, autoescape=True) for column in (events.c.title, events.c.venue_name))
        yield or_(*words)
    if which.category is not None:
        yield events.c.category == which.category
    if which.source is not None:
        yield sources.c.name == which.source
    if which.status is not None:
        yield events.c.status == which.status
    if which.date_from is not None:
        yield events.c.event_date >= which.date_from
    if which.date_to is not None:
        yield events.c.event_date < which.date_to
    if not which.include_gone:
        yield events.c.gone_at.is_(None)
        yield events.c.latitude.is_not(None)


def _event(row: Any) -> EventView:
    return EventView(**{**row, "record": msgspec.Raw(row["record"])})
