"""Events as they were at a moment, from their history."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
from sqlalchemy import func, select

from tidemill.core.views.past import Cause, record_before, was_ended
from tidemill.store.database.database import Database
from tidemill.store.records.causes import causes_between
from tidemill.store.records.past import lines_after
from tidemill.store.schema import sources
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.tables import events


class PastEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event as it was."""

    id: int
    event: Event
    source_name: str
    first_seen_at: datetime
    is_gone: bool


_ROWS = select(
    *(events.c[name] for name in ("id", "record", "first_seen_at", "gone_at")),
    func.coalesce(sources.c.name, "").label("source_name"),
).select_from(events.outerjoin(sources, sources.c.id == events.c.source_id))


class PastEvents:
    """Reads events as of a moment."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def causes(self, keys: Sequence[int], begin: datetime, end: datetime) -> Mapping[int, Sequence[Cause]]:
        """Return what made events what they became between two moments."""
        async with self._database.published() as connection:
            return await causes_between(connection, "events", events, keys, begin, end)

    async def page(self, moment: datetime, after: int, limit: int, source: str | None) -> Sequence[PastEvent]:
        """Return events that were known at a moment, in order of key, those that were gone then included."""
        query = _ROWS.where(events.c.first_seen_at <= moment, events.c.id > after).order_by(events.c.id).limit(limit)
        if source is not None:
            query = query.where(sources.c.name == source)
        async with self._database.published() as connection:
            rows = (await connection.execute(query)).all()
            lines = await lines_after(connection, "events", [row.id for row in rows], moment)
        return [
            PastEvent(
                id=row.id,
                event=msgspec.convert(record_before(msgspec.json.decode(row.record), lines.get(row.id, ())), Event),
                source_name=row.source_name,
                first_seen_at=row.first_seen_at,
                is_gone=was_ended(row.gone_at is not None, lines.get(row.id, ())),
            )
            for row in rows
        ]
