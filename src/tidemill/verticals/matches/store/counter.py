"""Counts matches for people, and those that are played and how lately they were checked for freshness objectives."""

from sqlalchemy import bindparam, func, select

from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.views.totals import RecordTotal
from tidemill.store.records.checked import CheckedRecordCounter
from tidemill.store.schema import live_pages, live_things
from tidemill.store.views.totals import RecordCounter
from tidemill.verticals.matches.store.tables import matches

COUNTER = RecordCounter(
    RecordTotal("matches", "matches_followed", "matches_merged", "followed", is_counted_by_runs=False),
    select(
        func.count().filter(matches.c.merged_into.is_(None)), func.count().filter(matches.c.merged_into.is_not(None))
    ).select_from(matches),
)
"""A match that no site's id means any more was merged into another."""

CHECKED = CheckedRecordCounter(
    select(
        live_pages.c.source_id, func.count(), func.count().filter(live_pages.c.checked_at >= bindparam("b_since"))
    )
    .join(live_things, live_things.c.id == live_pages.c.thing_id)
    .where(
        live_things.c.vertical == "matches", live_things.c.lifecycle == Lifecycle.ACTIVE,
        live_things.c.created_at <= bindparam("b_now"),
    )
    .group_by(live_pages.c.source_id)
)  # fmt: skip
