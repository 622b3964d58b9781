"""Homes by the thousand or the million: what a search, a look for fading ones and the nightly letting go take."""

import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from statistics import median

import uvloop
from sqlalchemy import text

from benchmarks.contenders.tidemill_claims import NOW, SERIES
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.bootstrap.system import System, build
from tidemill.settings import load_settings
from tidemill.store.database.database import Database
from tidemill.store.database.migrate import upgrade
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.views import ListingFilter

TIMES = 15
SOURCE = """INSERT INTO scraper_sources (id, name, vertical, base_url, adapter_id, created_at, updated_at)
VALUES (1, 'homes', 'listings', 'http://homes.test', 'listings.search', {now}, {now})"""
HOMES = """INSERT INTO listings (id, market_id, title, url, city, state, rent_low, currency, beds_low, latitude,
    longitude, quality, record, provenance, first_seen_at, last_seen_at, updated_at)
SELECT n, {market}, 'Home ' || n, 'http://homes.test/' || n, 'x', 'NY', 90000 + (n * 7919) % 400000, 'USD', n % 4,
    40 + (n % 1000) / 1000.0, -74 + (n % 997) / 1000.0, 50, {record}, '{{}}', {now}, {seen}, {now} FROM series"""
SEEN = """INSERT INTO listing_sightings (id, listing_id, source_id, identity, market_id, url, checksum, record, page_id,
    first_seen_at, last_seen_at)
SELECT n, n, 1, 'ID:' || n, 'nyc', 'http://homes.test/' || n, n, {record}, 1, {now}, {now} FROM series"""
RECORD = '{"title": "Home", "rent_low": 100000}'
WORDS = {
    "sqlite": {
        "market": "CASE n % 8 WHEN 0 THEN 'nyc' WHEN 1 THEN 'boston' WHEN 2 THEN 'dc' WHEN 3 THEN 'philadelphia'"
        " WHEN 4 THEN 'pittsburgh' WHEN 5 THEN 'baltimore' WHEN 6 THEN 'newark' ELSE 'hartford' END",
        "record": f"CAST('{RECORD}' AS BLOB)",
        "seen": "{micros} - (n % 1200) * 60000000",
    },
    "postgresql": {
        "market": "(ARRAY['nyc','boston','dc','philadelphia','pittsburgh','baltimore','newark','hartford'])[n % 8 + 1]",
        "record": f"convert_to('{RECORD}', 'UTF8')",
        "seen": "to_timestamp({micros} / 1000000.0) - (n % 1200) * interval '1 minute'",
    },
}


async def fill(database: Database, homes: int, now: datetime) -> None:
    """Make homes inside the database: seen over the last 20 hours, evenly."""
    micros = int(now.timestamp() * 1_000_000)
    words = {name: each.format(micros=micros) if name == "seen" else each
             for name, each in WORDS[database.dialect].items()}  # fmt: skip
    words["now"] = NOW[database.dialect].format(micros=micros)
    async with database.write() as connection:
        await connection.execute(text(SOURCE.format(**words)))
        for statement in (HOMES, SEEN):
            into, rest = statement.format(**words).split("\nSELECT ", 1)
            series = SERIES[database.dialect].format(last=homes)
            await connection.execute(text(f"{into}\n{series} SELECT {rest}"))
    async with database.write() as connection:
        await connection.execute(text("ANALYZE"))


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """The median of several times, in milliseconds."""
    seconds = []
    for _ in range(TIMES):
        began = time.perf_counter()
        await work()
        seconds.append(time.perf_counter() - began)
    return median(seconds) * 1_000


async def measured(system: System, now: datetime) -> dict[str, float]:
    """What each question takes."""
    homes, verification = system.part(ListingsParts).store.views, system.part(ListingsParts).store.verification
    cheap = ListingFilter(market="nyc", rent_to=250_000, order="rent")
    near = ListingFilter(near=(40.5, -73.6, 2.0))
    return {
        "search_ms": await timed(lambda: homes.search(cheap, now, limit=50)),
        "newest_ms": await timed(lambda: homes.search(ListingFilter(), now, limit=50)),
        "near_ms": await timed(lambda: homes.search(near, now, limit=50)),
        "text_ms": await timed(lambda: homes.search(ListingFilter(text="home 7919"), now, limit=50)),
        "unknown_text_ms": await timed(lambda: homes.search(ListingFilter(text="castle"), now, limit=50)),
        "fading_ms": await timed(lambda: verification.due(now, 600)),
        "decay_ms": await timed(lambda: verification.end_faded(now)),
    }


async def run(task: Task, homes: int) -> Figures:
    system, watch = build(load_settings(database=task.database)), Stopwatch()
    now = datetime.now(UTC)  # noqa: TID251 - outside Tidemill there is no other clock
    try:
        await upgrade(system.store.database)
        await fill(system.store.database, homes, now)
        watch.start()
        extra = await measured(system, now)
        watch.stop()
        return Figures(
            watch.seconds, watch.cpu_seconds, peak_megabytes(), {"homes": homes}, watch.waited_seconds, extra
        )  # fmt: skip
    finally:
        await system.close()


def main() -> None:
    answer(uvloop.run(run(task_from_command_line(), int(sys.argv[2]))))


if __name__ == "__main__":
    main()
