"""What the periodic work takes when so many jobs are past: nothing that looks for open work may walk through them."""

import sys
import time
from datetime import UTC, datetime, timedelta
from statistics import median

import uvloop
from sqlalchemy import text

from benchmarks.contenders.tidemill_claims import BASE, NOW, SERIES
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.bootstrap.system import System, build
from tidemill.settings import load_settings
from tidemill.store.database.database import Database
from tidemill.store.database.migrate import upgrade

SOURCES = 50
TARGETS_EACH = 4
PER_RUN = 4
TIMES = 5
TICKS = (
    "dispatch", "rescue", "close_runs", "retry_letters", "stale_jobs", "publish_events", "propose_repairs", "markets",
    "market_proof", "proof",
)  # fmt: skip
"""Every tick that looks for work; those left out send or prune."""

PAST = {
    "sqlite": "{micros} - n * 60000000",
    "postgresql": "to_timestamp({micros} / 1000000.0) - n * interval '1 minute'",
}
"""A job, or a run, each minute before now."""
SOURCE = """INSERT INTO scraper_sources (id, name, vertical, base_url, adapter_id, created_at, updated_at)
SELECT {base} + n, 'source ' || n, 'events', 'http://host-' || n || '.test', 'events.generic', {now}, {now}
    FROM series"""
HOSTS = """INSERT INTO hosts (host, interval_ms, burst, parallel, opens_at)
SELECT 'host-' || n || '.test', 2000, 1, 1, {now} FROM series"""
TARGETS = """INSERT INTO scrape_targets (id, source_id, url, canonical_url, host, adapter_id, last_status,
    last_scraped_at, next_due_at, created_at, updated_at)
SELECT {base} + n, {base} + n / {each}, {url}, {url}, {host}, 'events.generic', 'SUCCESS', {now}, {later}, {now}, {now}
    FROM series"""
RUNS = """INSERT INTO scrape_runs (id, source_id, vertical, adapter_id, trigger, status, open_jobs, started_at,
    completed_at, urls_attempted, urls_succeeded, records_accepted, complete)
SELECT {base} + n, {base} + n % {sources}, 'events', 'events.generic', 'SCHEDULED', 'SUCCESS', 0, {past}, {past}, 4, 4,
    40, {true} FROM series"""
JOBS = """INSERT INTO pipeline_jobs (id, run_id, source_id, target_id, vertical, adapter_id, lane, host, url, trigger,
    due_at, rank, status, current_stage, created_at, completed_at)
SELECT {base} + n, {base} + n / {per_run}, {base} + n % {targets} / {each}, {base} + n % {targets}, 'events',
    'events.generic', 'http', 'host-' || (n % {targets} / {each}) || '.test', 'http://past.test/' || n, 'SCHEDULED',
    {past}, 0, 'done', 'persist', {past}, {past} FROM series"""


async def fill(database: Database, jobs: int, now: datetime) -> None:
    """Make 200 targets whose jobs are all past, each as many as there are."""
    dialect = database.dialect
    targets = SOURCES * TARGETS_EACH
    micros = int(now.timestamp() * 1_000_000)
    later = NOW[dialect].format(micros=int((now + timedelta(days=1)).timestamp() * 1_000_000))
    words = {
        "base": BASE, "now": NOW[dialect].format(micros=micros), "past": PAST[dialect].format(micros=micros),
        "later": later, "each": TARGETS_EACH, "targets": targets, "sources": SOURCES,
        "per_run": PER_RUN, "true": "true", "host": f"'host-' || (n / {TARGETS_EACH}) || '.test'",
        "url": f"'http://host-' || (n / {TARGETS_EACH}) || '.test/' || n",
    }  # fmt: skip
    rows = ((SOURCE, SOURCES), (HOSTS, SOURCES), (TARGETS, targets), (RUNS, jobs // PER_RUN), (JOBS, jobs))
    async with database.write() as connection:
        for statement, count in rows:
            into, rest = statement.format(**words).split("\nSELECT ", 1)
            await connection.execute(text(f"{into}\n{SERIES[dialect].format(last=count - 1)} SELECT {rest}"))
    async with database.write() as connection:
        await connection.execute(text("ANALYZE"))


async def tick_times(system: System) -> dict[str, float]:
    """The median of each tick in milliseconds."""
    found: dict[str, float] = {}
    for name in TICKS:
        seconds = []
        for _ in range(TIMES):
            began = time.perf_counter()
            await system.ticks.chores[name].run()
            seconds.append(time.perf_counter() - began)
        found[f"{name}_ms"] = median(seconds) * 1_000
    return found


async def run(task: Task, jobs: int) -> Figures:
    system, watch = build(load_settings(database=task.database)), Stopwatch()
    now = datetime.now(UTC)  # noqa: TID251 - outside Tidemill there is no other clock
    try:
        await upgrade(system.store.database)
        await system.worker.sign_in()
        await fill(system.store.database, jobs, now)
        watch.start()
        extra = await tick_times(system)
        watch.stop()
    finally:
        await system.close()
    return Figures(
        watch.seconds, watch.cpu_seconds, peak_megabytes(), {"pages": 0, "jobs": jobs}, watch.waited_seconds, extra
    )


if __name__ == "__main__":
    answer(uvloop.run(run(task_from_command_line(), int(sys.argv[2]))))
