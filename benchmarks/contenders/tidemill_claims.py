"""How long a claim takes when so many jobs are pending: the ledger's own statements, nothing else running."""

import sys
import time
from datetime import UTC, datetime, timedelta
from statistics import median

import uvloop
from sqlalchemy import text

from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.bootstrap.system import System, build
from tidemill.settings import load_settings
from tidemill.store.database.database import Database
from tidemill.store.database.migrate import upgrade

HOSTS = 1_000
CLAIMS = 60
WARM_UP = 10
TAKEN = 64
BASE = 10_000_000
"""Keys of the rows made here start beyond those that the system gives out meanwhile."""

SERIES = {
    "sqlite": "WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < {last}) ",
    "postgresql": "WITH series AS (SELECT n FROM generate_series(0, {last}) AS numbers(n)) ",
}
NOW = {"sqlite": "{micros}", "postgresql": "to_timestamp({micros} / 1000000.0)"}
HOST = "'host-' || (n % {hosts}) || '.test'"
URL = "'http://host-' || (n % {hosts}) || '.test/bench/' || n"

SOURCE = """INSERT INTO scraper_sources (id, name, vertical, base_url, adapter_id, created_at, updated_at)
SELECT {base} + n, 'source ' || n, 'events', 'http://host-' || n || '.test', 'events.generic', {now}, {now}
    FROM series"""
HOSTS_ROWS = """INSERT INTO hosts (host, interval_ms, burst, parallel, opens_at, has_work)
SELECT 'host-' || n || '.test', 2000, 1, 1, {now}, true FROM series"""
TARGETS = """INSERT INTO scrape_targets (id, source_id, url, canonical_url, host, adapter_id, created_at, updated_at)
SELECT {base} + n, {base} + n % {hosts}, {url}, {url}, {host}, 'events.generic', {now}, {now} FROM series"""
JOBS = """INSERT INTO pipeline_jobs (id, run_id, source_id, target_id, vertical, adapter_id, lane, host, url, trigger,
    due_at, rank, created_at)
SELECT {base} + n, {base}, {base} + n % {hosts}, {base} + n, 'events', 'events.generic', 'http', {host}, {url},
    'SCHEDULED', {now}, 1000000 - (n % 1000) * 7919 % 1000, {now} FROM series"""
GIVE_BACK = "UPDATE pipeline_jobs SET status = 'ready', leased_by = NULL WHERE status = 'leased'"


async def fill(database: Database, jobs: int, now: datetime) -> None:
    """Make hosts, sources, targets and jobs inside the database, which is the quickest."""
    micros = int(now.timestamp() * 1_000_000)
    words = {"now": NOW[database.dialect].format(micros=micros), "base": BASE, "hosts": HOSTS}
    words |= {"host": HOST.format(**words), "url": URL.format(**words)}
    async with database.write() as connection:
        for statement, rows in ((SOURCE, HOSTS), (HOSTS_ROWS, HOSTS), (TARGETS, jobs), (JOBS, jobs)):
            series = SERIES[database.dialect].format(last=rows - 1)
            into, rest = statement.format(**words).split("\nSELECT ", 1)
            await connection.execute(text(f"{into}\n{series} SELECT {rest}"))
    async with database.write() as connection:
        await connection.execute(text("ANALYZE"))  # which autovacuum, or the maintenance tick, would have done


async def claim_times(system: System, now: datetime) -> list[float]:
    """The seconds of each claim; every time all hosts may be asked again, and everything taken is given back."""
    seconds = []
    for _ in range(WARM_UP + CLAIMS):
        now += timedelta(seconds=5)
        began = time.perf_counter()
        claimed = await system.store.ledger.claim("http", TAKEN, system.worker.key(), now)
        seconds.append(time.perf_counter() - began)
        assert len(claimed) == TAKEN, len(claimed)
        async with system.store.database.write() as connection:
            await connection.execute(text(GIVE_BACK))
    return seconds[WARM_UP:]


async def run(task: Task, jobs: int) -> Figures:
    system, watch = build(load_settings(database=task.database)), Stopwatch()
    now = datetime.now(UTC)  # noqa: TID251 - outside Tidemill there is no other clock
    try:
        await upgrade(system.store.database)
        await system.worker.sign_in()
        await fill(system.store.database, jobs, now)
        watch.start()
        seconds = await claim_times(system, now)
        watch.stop()
    finally:
        await system.close()
    extra = {"median_ms": median(seconds) * 1000, "worst_ms": max(seconds) * 1000}
    return Figures(
        watch.seconds, watch.cpu_seconds, peak_megabytes(), {"pages": 0, "jobs": jobs}, watch.waited_seconds, extra
    )


if __name__ == "__main__":
    answer(uvloop.run(run(task_from_command_line(), int(sys.argv[2]))))
