"""Confidence falls over any number of homes by one expression; those that are over go in rounds of constant memory."""

import tracemalloc
from datetime import timedelta

import pytest
from sqlalchemy import Engine, event, text

from rig.clock import NOON
from tidemill.store.database.column_types import to_micros
from tidemill.store.database.database import open_database
from tidemill.store.database.keys import Ids
from tidemill.verticals.listings.policy import DECAY
from tidemill.verticals.listings.store.verification import AT_ONCE, Verification
from tidemill.verticals.listings.store.views import ListingViews

HOMES, OVER = 100_000, 2 * AT_ONCE
MOST_MEMORY = 40_000_000
"""Bytes: what one round of 5,000 takes, and not what all of them do."""
LONG_AFTER = NOON + timedelta(days=60)
FILL = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :homes)
    INSERT INTO listings (id, market_id, title, url, currency, quality, record, provenance, first_seen_at, last_seen_at,
        updated_at)
    SELECT i, 'nyc', 'Home', 'https://a.test/', 'USD', 50, x'7b7d', '{}', :seen, :seen, :seen FROM n
"""


@pytest.mark.shows("B11")
async def test_a_hundred_thousand_homes_fade_in_one_statement_and_end_in_constant_memory(migrated_sqlite_url):
    database = open_database(migrated_sqlite_url)
    try:
        async with database.write() as connection:
            await connection.execute(text(FILL), {"homes": HOMES, "seen": to_micros(NOON)})
        asked = []

        def note(_connection, _cursor, statement, *_rest):
            asked.append(statement)

        async def measured(work):
            asked.clear()
            event.listen(Engine, "before_cursor_execute", note)
            tracemalloc.start()
            try:
                return await work, tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
                event.remove(Engine, "before_cursor_execute", note)

        views = ListingViews(database, DECAY)
        (share,), judged = await measured(views.by_market(NOON + timedelta(hours=10)))
        assert (share.active, share.visible, share.fading) == (HOMES, HOMES, 0)
        assert len([one for one in asked if "listings" in one]) == 1
        assert judged < 2_000_000

        async with database.write() as connection:
            seen = {"seen": to_micros(LONG_AFTER), "over": OVER}
            await connection.execute(text("UPDATE listings SET last_seen_at = :seen WHERE id > :over"), seen)
        verification = Verification(database, Ids(database), DECAY)
        ended, in_memory = await measured(verification.end_faded(LONG_AFTER))
        assert (ended, in_memory < MOST_MEMORY) == (OVER, True)
        async with database.read() as connection:
            left = await connection.execute(text("SELECT count(*) FROM listings WHERE is_active"))
            told = await connection.execute(text("SELECT count(*) FROM record_history WHERE kind = 'faded'"))
            assert (left.scalar(), told.scalar()) == (HOMES - OVER, OVER)
    finally:
        await database.close()
