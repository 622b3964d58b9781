"""Counts the records of listings, for whoever is shown everything in numbers."""

from sqlalchemy import bindparam, func, or_, select, text

from tidemill.core.views.totals import RecordTotal
from tidemill.store.records.checked import CheckedRecordCounter
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.listings.store.tables import listing_sightings, listings

_ALL = select(func.count()).select_from(listings).scalar_subquery()
_THERE = select(func.count()).select_from(listings).where(text("listings.is_active")).scalar_subquery()
COUNTER = RecordCounter(RecordTotal("homes", "homes_listed", "homes_gone", "for rent"), select(_THERE, _ALL - _THERE))
"""Both are counted along an index, spelled as the partial index is."""

_seen = listing_sightings.c.last_seen_at >= bindparam("b_since")
_verified = listings.c.verified_at >= bindparam("b_since")
CHECKED = CheckedRecordCounter(
    select(listing_sightings.c.source_id, func.count(), func.count().filter(or_(_seen, _verified)))
    .join(listings, listings.c.id == listing_sightings.c.listing_id)
    .where(listing_sightings.c.gone_at.is_(None), listings.c.is_active, listings.c.first_seen_at <= bindparam("b_now"))
    .group_by(listing_sightings.c.source_id)
)
"""A home is checked when a list shows it, or when its own page was looked at."""
