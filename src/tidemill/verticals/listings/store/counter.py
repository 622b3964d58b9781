"""Counts the records of listings, for whoever is shown everything in numbers."""

from sqlalchemy import func, select

from tidemill.core.views.totals import RecordTotal
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.listings.store.tables import listings

COUNTER = RecordCounter(
    RecordTotal("homes", "homes_listed", "homes_gone", "for rent"),
    select(func.count().filter(listings.c.is_active), func.count().filter(~listings.c.is_active)).select_from(listings),
)
