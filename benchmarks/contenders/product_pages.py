"""Product pages through the whole of Tidemill, or through a tuned Scrapy: `tidemill` or `scrapy` after the task."""

import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import scrapy
import uvloop
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response
from sqlalchemy import func, select

from benchmarks.contenders.scrapy_spider import JSON_LD, TUNED, WATCH
from benchmarks.contenders.tidemill_system import PARALLEL, settings_for
from benchmarks.plain_store import page_row
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, source_name, task_from_command_line
from tidemill.bootstrap.system import build
from tidemill.core.run import Trigger
from tidemill.engine.interpreter import tune_interpreter
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade
from tidemill.verticals.prices.store.tables import prices

BATCH = 100
TABLES = """
CREATE TABLE pages (url TEXT PRIMARY KEY, status INTEGER, fetched_at TEXT, body BLOB);
CREATE TABLE products (sku TEXT PRIMARY KEY, title TEXT, brand TEXT, url TEXT);
CREATE TABLE prices (sku TEXT, cents INTEGER, currency TEXT, availability TEXT, observed_at TEXT);
"""


def urls(task: Task) -> Iterator[str]:
    """Every product page once, the hosts in turn."""
    return (url.replace("/bench/", "/product/") for url in task.urls())


async def through_tidemill(task: Task) -> Figures:
    """Fetched, stored, read, judged, upserted, priced and linked, each step durable."""
    targets: dict[str, list[dict[str, str]]] = {origin: [] for origin in task.origins}
    for number, url in enumerate(urls(task)):
        targets[task.origins[number % len(task.origins)]].append({"url": url})
    pace = {"interval_seconds": 0, "burst": PARALLEL, "parallel": PARALLEL}
    entries = [
        {"name": source_name(origin), "vertical": "prices", "base_url": origin, "adapter": "prices.generic",
         "pace": pace, "targets": listed}
        for origin, listed in targets.items()
    ]  # fmt: skip
    system, watch = build(load_settings(**settings_for(task))), Stopwatch()
    try:
        await upgrade(system.store.database)
        imported = await system.actions.importer.source_entries(entries, "bench")
        assert not imported.problems, imported.problems
        for source in await system.store.sources.every():
            await system.dispatcher.enqueue(await system.store.agenda.of_source(source.id), Trigger.MANUAL)
        await system.worker.sign_in()
        watch.start()
        await system.make_drain().run("http")
        watch.stop()
        async with system.store.database.read() as connection:
            kept = (await connection.execute(select(func.count()).select_from(prices))).scalar_one()
    finally:
        await system.close()
    return Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), {"prices": kept}, watch.waited_seconds)


class PricePipeline:
    """Collects pages and prices, and writes them batch by batch."""

    def __init__(self, crawler: Crawler) -> None:
        self._connection = sqlite3.connect(crawler.spider.task.sqlite_file, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-65536", "wal_autocheckpoint=4000"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.executescript(TABLES)
        self._items: list[dict[str, Any]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PricePipeline":
        return cls(crawler)

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        self._items.append(item)
        if len(self._items) >= BATCH:
            self._flush()
        return item

    def _flush(self) -> None:
        executemany = self._connection.executemany
        self._connection.execute("BEGIN")
        executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)", [each["page"] for each in self._items])
        executemany("INSERT OR REPLACE INTO products VALUES (?, ?, ?, ?)", [each["product"] for each in self._items])
        executemany("INSERT INTO prices VALUES (?, ?, ?, ?, ?)", [each["price"] for each in self._items])
        self._connection.execute("COMMIT")
        self._items.clear()

    def close_spider(self) -> None:
        self._flush()
        WATCH.stop()
        self._connection.close()


class Products(scrapy.Spider):
    """Asks for every product and yields its price."""

    name = "products"

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task = task

    async def start(self) -> AsyncIterator[scrapy.Request]:
        WATCH.start()
        for url in urls(self.task):
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        page = page_row(response.url, response.status, response.body)
        for block in response.xpath(JSON_LD).getall():
            said = msgspec.json.decode(block)
            if said.get("@type") == "Product":
                offer = said["offers"]
                cents = round(float(offer["price"]) * 100)
                stock = offer["availability"].rpartition("/")[2]
                yield {
                    "page": page,
                    "product": (said["sku"], said["name"], said["brand"]["name"], response.url),
                    "price": (said["sku"], cents, offer["priceCurrency"], stock, page[2]),
                }


def through_scrapy(task: Task) -> Figures:
    """Fetched, read and written, page, product and price."""
    process = AsyncCrawlerProcess({**TUNED, "ITEM_PIPELINES": {PricePipeline: 100}})
    process.crawl(Products, task=task)
    process.start()
    connection = sqlite3.connect(task.sqlite_file)
    kept = connection.execute("SELECT count(*) FROM prices").fetchone()[0]
    connection.close()
    return Figures(WATCH.seconds, WATCH.cpu_seconds, peak_megabytes(), {"prices": kept}, WATCH.waited_seconds)


if __name__ == "__main__":
    told = task_from_command_line()
    tune_interpreter()
    if sys.argv[2] == "scrapy":
        answer(through_scrapy(told))
    else:
        answer(uvloop.run(through_tidemill(told)))
