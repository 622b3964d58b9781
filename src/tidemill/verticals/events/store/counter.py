"""Counts the records of events, for whoever is shown everything in numbers."""

from sqlalchemy import func, select

from tidemill.core.views.totals import RecordTotal
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.events.store.tables import events

COUNTER = RecordCounter(
    RecordTotal("events", "events_listed", "events_gone", "listed"),
    select(func.count() - func.count(events.c.gone_at), func.count(events.c.gone_at)).select_from(events),
)
