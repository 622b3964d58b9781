"""Questions whose cost must not grow with what nobody asked about: how PostgreSQL means to answer them."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from rig.clock import NOON
from tidemill.store.database.database import Database, open_database
from tidemill.verticals.events.store.repository_sql import UNSEEN_EVENTS

SOURCES = text(
    "INSERT INTO scraper_sources (id, name, vertical, base_url, adapter_id, created_at, updated_at)"
    " SELECT g, 's' || g, 'events', 'https://a.test', 'events.generic', now(), now() FROM generate_series(0, 199) g"
)
RUNS = text(
    "INSERT INTO scrape_runs (id, source_id, vertical, trigger, started_at, adapter_id, status, open_jobs)"
    " SELECT g, g % 200, 'events', 'MANUAL', now(), 'events.generic', 'SUCCESS', 0 FROM generate_series(1, 2000) g"
)
EVENTS = text(
    "INSERT INTO events (id, source_id, identity, identity_hash, event_fingerprint, title, event_date, event_time,"
    " venue_name, category, status, checksum, record, page_id, first_seen_at, last_seen_at, updated_at)"
    " SELECT g, g % 200, 'i' || g, g, 'f', 't', now(), '20:00', 'v', 'music', 'scheduled', 1,"
    " repeat('x', 1000)::bytea, 1, now(), now(), now() FROM generate_series(1, 20000) g"
)


@pytest.fixture
async def full(migrated_postgres_url: str) -> AsyncIterator[Database]:
    """Events of two hundred sources, of which no statistics have been taken."""
    opened = open_database(migrated_postgres_url)
    try:
        async with opened.write() as connection:
            for filling in (SOURCES, RUNS, EVENTS):
                await connection.execute(filling)
        yield opened
    finally:
        await opened.close()


@pytest.mark.parametrize("beforehand", ["SELECT 1", "ANALYZE events, scrape_runs"])
async def test_the_end_of_runs_reads_the_events_of_their_own_sources_only(full: Database, beforehand: str) -> None:
    async with full.write() as connection:
        await connection.execute(text(beforehand))
        asked = UNSEEN_EVENTS.postgres_values({"runs": list(range(1, 17)), "now": NOON, "each": 5_000})
        lines = (await connection.exec_driver_sql(f"EXPLAIN {UNSEEN_EVENTS.postgres}", asked)).scalars().all()
    plan = "\n".join(lines)
    assert "uq_events_source_id_identity_hash" in plan
    assert "Seq Scan on events" not in plan
