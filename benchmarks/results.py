"""What is really in the databases afterwards: a figure without its result is void."""

import sqlite3

import asyncpg
from sqlalchemy import text

from tidemill.bootstrap.system import System

_PLAIN = {
    "pages": "SELECT count(*) FROM pages WHERE length(body) > 20000",
    "events": "SELECT count(*) FROM events WHERE title <> '' AND starts <> ''",
    "pages_with_events": "SELECT count(DISTINCT page_url) FROM events",
}


def found_in_plain_sqlite(file: str) -> dict[str, int]:
    """Pages and events that Scrapy or the bare script left in its file."""
    connection = sqlite3.connect(file)
    try:
        return {name: int(connection.execute(query).fetchone()[0]) for name, query in _PLAIN.items()}
    finally:
        connection.close()


async def found_in_plain_postgres(url: str) -> dict[str, int]:
    """Pages and events that Scrapy left in its database."""
    connection = await asyncpg.connect(url)
    try:
        return {name: int(await connection.fetchval(query)) for name, query in _PLAIN.items()}
    finally:
        await connection.close()


_TIDEMILL = {
    "pages": "SELECT count(*) FROM raw_pages WHERE failure IS NULL AND body_length > 20000",
    "bodies": "SELECT count(*) FROM page_bodies",
    "events": "SELECT count(*) FROM events WHERE title <> ''",
    "pages_with_events": "SELECT count(DISTINCT page_id) FROM events",
    "jobs": "SELECT count(*) FROM pipeline_jobs",
    "jobs_done": "SELECT count(*) FROM pipeline_jobs WHERE status = 'done' AND current_stage = 'completed'",
    "runs_open": "SELECT count(*) FROM scrape_runs WHERE completed_at IS NULL",
}


async def found_in_tidemill(system: System) -> dict[str, int]:
    """What Tidemill's tables hold; a sample of bodies is read back from where they are kept."""
    async with system.store.database.read() as connection:
        found = {name: int((await connection.execute(text(query))).scalar_one()) for name, query in _TIDEMILL.items()}
        keys = list((await connection.execute(text("SELECT id FROM raw_pages ORDER BY body_key LIMIT 50"))).scalars())
    pages = [await system.store.ledger.materials.page(key) for key in keys]
    whole = [page for page in pages if page is not None and page.body.rstrip().endswith(b"</html>")]
    return {**found, "read_back": len(whole), "asked_back": len(keys)}
