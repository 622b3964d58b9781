"""Counts the records of events, for whoever is shown everything in numbers."""

from sqlalchemy import bindparam, func, select

from tidemill.core.views.totals import RecordTotal
from tidemill.store.records.checked import CheckedRecordCounter
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.events.store.tables import events

_ALL = select(func.count()).select_from(events).scalar_subquery()
_GONE = select(func.count()).where(events.c.gone_at.is_not(None)).scalar_subquery()
COUNTER = RecordCounter(RecordTotal("events", "events_listed", "events_gone", "listed"), select(_ALL - _GONE, _GONE))
"""Both are counted along an index: a table of records is large, and few of them are gone."""

CHECKED = CheckedRecordCounter(
    select(events.c.source_id, func.count(), func.count().filter(events.c.last_seen_at >= bindparam("b_since")))
    .where(
        events.c.gone_at.is_(None),
        events.c.event_date >= bindparam("b_now"),
        events.c.first_seen_at <= bindparam("b_now"),
    )
    .group_by(events.c.source_id)
)
"""An event that is past is on no page any more, and nobody can check it."""
