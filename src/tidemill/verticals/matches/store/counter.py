"""Counts matches, for whoever is shown everything in numbers."""

from sqlalchemy import func, select

from tidemill.core.views.totals import RecordTotal
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.matches.store.tables import matches

COUNTER = RecordCounter(
    RecordTotal("matches", "matches_known", "matches_merged", "known"),
    select(
        func.count().filter(matches.c.merged_into.is_(None)), func.count().filter(matches.c.merged_into.is_not(None))
    ).select_from(matches),
)
