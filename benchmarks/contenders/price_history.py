"""How long a reader's questions about one product take when so many prices are kept: the readers' own queries."""

import sqlite3
import sys
import time
from datetime import UTC, datetime
from statistics import median

import uvloop

from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import upgrade
from tidemill.verticals.prices.store.views import PriceReads

PER_PRODUCT = 1_000
QUESTIONS, WARM_UP = 60, 10
PAGE = 100
STEP = 3_600_000_000
"""Microseconds between two prices of a product."""

INDEXES = "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'prices' AND type = 'index' AND sql IS NOT NULL"
SERIES = "WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < {last}) "
SOURCE = """INSERT INTO scraper_sources (id, name, vertical, base_url, adapter_id, visibility, created_at, updated_at)
VALUES (1, 'shop', 'prices', 'https://shop.test', 'prices.generic', 'ELIGIBLE', {now}, {now})"""
PRODUCTS = """INSERT INTO source_products (id, source_id, target_id, identity_key, url, title, checksum, record,
    page_id, first_seen_at, last_seen_at, updated_at)
{series} SELECT n + 1, 1, n, 'SKU:' || n, 'https://shop.test/' || n, 'Product ' || n, 0, x'', 1, {now}, {now}, {now}
    FROM series"""
PRICES = """INSERT INTO prices (id, source_product_id, source_id, price_cents, currency, availability,
    ingestion_run_type, ingestion_run_id, observed_at, change_seq)
{series} SELECT n + 1, 1 + n % {products}, 1, 1000 + n * 7919 % 500, 'USD', 'IN_STOCK', 'SCRAPE', 1 + n / {products},
    {now} + (n / {products}) * {step}, CASE WHEN n % 5 = 0 THEN n + 1 END FROM series"""


def fill(file: str, prices: int) -> int:
    """Make products with a thousand prices each, without guards and log, the indexes made last: the quickest."""
    products = max(1, prices // PER_PRODUCT)
    words = {"now": int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1_000_000), "step": STEP, "products": products}
    connection = sqlite3.connect(file, isolation_level=None)
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-262144", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    made = connection.execute(INDEXES).fetchall()
    for name in ("update", "delete", "replace"):
        connection.execute(f"DROP TRIGGER prices_no_{name}")
    for name, _ in made:
        connection.execute(f"DROP INDEX {name}")
    connection.execute(SOURCE.format(**words))
    for statement, rows in ((PRODUCTS, products), (PRICES, prices)):
        connection.execute(statement.format(series=SERIES.format(last=rows - 1), **words))
    for _, sql in made:
        connection.execute(sql)
    connection.execute("ANALYZE")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    return products


async def question_times(reads: PriceReads, products: int) -> list[float]:
    """The seconds of each question: a page of one product's history, spread over all products."""
    seconds = []
    for number in range(WARM_UP + QUESTIONS):
        product = 1 + number * 7919 % products
        began = time.perf_counter()
        found = await reads.history([product], limit=PAGE)
        seconds.append(time.perf_counter() - began)
        assert len(found) == PAGE, len(found)
    return seconds[WARM_UP:]


async def run(task: Task, prices: int) -> Figures:
    database, watch = open_database(task.database), Stopwatch()
    await upgrade(database)
    await database.close()
    products = fill(task.sqlite_file, prices)
    database = open_database(task.database)
    try:
        watch.start()
        seconds = await question_times(PriceReads(database), products)
        watch.stop()
    finally:
        await database.close()
    extra = {"history_ms": median(seconds) * 1000, "worst_ms": max(seconds) * 1000}
    found = {"prices": prices}
    return Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), found, watch.waited_seconds, extra)


if __name__ == "__main__":
    answer(uvloop.run(run(task_from_command_line(), int(sys.argv[2]))))
