"""A mix through Tidemill, a tuned Scrapy or the bare script: its name, then `tidemill`, `scrapy` or `bare`.

After `tidemill` may stand how many reader processes it has. All three have the same settings of the interpreter and its
garbage collector. Scrapy yields one item a page.
Tidemill is timed from the first page enqueued until readers see the last event. Before that, only the sources and their
addresses are brought in, which the others are given as well.
"""

import asyncio
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import scrapy
import uvloop
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from sqlalchemy import text

from benchmarks.contenders.bare import CONNECTIONS
from benchmarks.contenders.scrapy_spider import TUNED, WATCH, PageItem, SqlitePipeline
from benchmarks.contenders.tidemill_system import PARALLEL, settings_for
from benchmarks.mixed_pages import PRODUCT, kind_of, mixed_urls
from benchmarks.mixes import MIXES, Mix
from benchmarks.plain_reading import EventRow
from benchmarks.plain_store import ProductRow, SqliteStore, page_row
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, source_name, task_from_command_line
from tidemill.bootstrap.run_ends import do_after_runs
from tidemill.bootstrap.system import System, build
from tidemill.core.run import Trigger
from tidemill.engine.interpreter import tune_interpreter
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

_PLAIN = {
    "pages": "SELECT count(*) FROM pages WHERE length(body) > 20000",
    "events": "SELECT count(*) FROM events WHERE title <> '' AND starts <> ''",
    "products": "SELECT count(*) FROM products WHERE cents > 0",
}
KEPT = {
    "pages": "SELECT count(*) FROM raw_pages WHERE failure IS NULL AND body_length > 20000",
    "events": "SELECT count(*) FROM events WHERE title <> ''",
    "published": "SELECT count(*) FROM event_links",
    "products": "SELECT count(*) FROM prices WHERE price_cents > 0",
    "jobs_done": "SELECT count(*) FROM pipeline_jobs WHERE status = 'done' AND current_stage = 'completed'",
    "runs_open": "SELECT count(*) FROM scrape_runs WHERE completed_at IS NULL",
}


def entries(task: Task, mix: Mix = MIXES["mix"]) -> Iterator[dict[str, object]]:
    """One source per host, in the form of a sources file."""
    targets: dict[str, list[dict[str, str]]] = {origin: [] for origin in task.origins}
    for number, (url, _) in enumerate(mixed_urls(task, mix.kinds)):
        targets[task.origins[number % len(task.origins)]].append({"url": url})
    for number, (origin, listed) in enumerate(targets.items()):
        pace = {"interval_seconds": 0, "burst": PARALLEL, "parallel": PARALLEL}
        yield {
            "name": source_name(origin),
            "base_url": origin,
            "city": "Utrecht",
            "pace": pace,
            "targets": listed,
            **_way(mix, kind_of(number, mix.kinds)),
        }


def _way(mix: Mix, kind: str) -> dict[str, object]:
    """How the pages of a kind are read."""
    if kind == PRODUCT:
        return {"vertical": "prices", "adapter": "prices.generic", "tos": {"approved_by": "bench"}}
    if selectors := mix.selectors.get(kind):
        return {"vertical": "events", "adapter": "events.selectors", "settings": {"selectors": dict(selectors)}}
    return {"vertical": "events", "adapter": "events.generic"}


async def through_tidemill(task: Task, mix: Mix, readers: int | None) -> Figures:
    """Enqueued, fetched, stored, read, judged, upserted and published, each step durable."""
    system, watch = build(load_settings(**settings_for(task), reader_processes=readers)), Stopwatch()
    try:
        await bring_in(system, task, mix)
        await system.worker.sign_in()
        watch.start()
        began = time.perf_counter()
        for source in await system.store.sources.every():
            await system.dispatcher.enqueue(await system.store.agenda.of_source(source.id), Trigger.MANUAL)
        enqueued = time.perf_counter()
        await system.make_drain().run("http")
        drained = time.perf_counter()
        await do_after_runs(system.parts.values())
        published = time.perf_counter()
        watch.stop()
        peak, found = peak_megabytes(), await _found(system)
    finally:
        await system.close()
    extra = {"enqueue_seconds": enqueued - began, "publish_seconds": published - drained}
    return Figures(watch.seconds, watch.cpu_seconds, peak, found, watch.waited_seconds, extra)


async def bring_in(system: System, task: Task, mix: Mix) -> None:
    """Make the database, and bring the sources and their addresses in."""
    await upgrade(system.store.database)
    imported = await system.actions.importer.source_entries(list(entries(task, mix)), "bench")
    assert not imported.problems, imported.problems


async def _found(system: System) -> dict[str, int]:
    async with system.store.database.read() as connection:
        return {name: int((await connection.execute(text(query))).scalar_one()) for name, query in KEPT.items()}


class MixedPage(PageItem):
    """A page with everything on it, as one item."""

    __slots__ = ("products",)

    def __init__(self, response: Response, events: list[EventRow], products: list[ProductRow]) -> None:
        super().__init__(page_row(response.url, response.status, response.body), events)
        self.products = products


class MixedPipeline(SqlitePipeline):
    """Collects pages and writes them batch by batch."""

    def process_item(self, item: Any) -> Any:
        self._store.add(item.page, item.events, item.products)
        return item


class Mixed(scrapy.Spider):
    """Asks for every page and yields one item for it."""

    name = "mixed"

    def __init__(self, task: Task, mix: Mix) -> None:
        super().__init__()
        self.task = task
        self.mix = mix

    async def start(self) -> AsyncIterator[scrapy.Request]:
        WATCH.start()
        for url, kind in mixed_urls(self.task, self.mix.kinds):
            yield scrapy.Request(url, dont_filter=True, cb_kwargs={"kind": kind})

    def parse(self, response: Response, kind: str) -> Iterator[MixedPage]:
        yield MixedPage(response, *self.mix.read_with_scrapy(response, kind))


def through_scrapy(task: Task, mix: Mix) -> Figures:
    """Fetched, read with Scrapy's own selectors, and written."""
    process = AsyncCrawlerProcess({**TUNED, "ITEM_PIPELINES": {MixedPipeline: 100}})
    process.crawl(Mixed, task=task, mix=mix)
    process.start()
    return _plain_figures(task, WATCH)


async def through_the_bare_script(task: Task, mix: Mix) -> Figures:
    """Fetched, read with Lexbor, and written."""
    store, urls, watch = SqliteStore(task.sqlite_file), mixed_urls(task, mix.kinds), Stopwatch()

    async def work(session: aiohttp.ClientSession) -> None:
        for url, kind in urls:
            async with session.get(url) as response:
                body = await response.read()
                store.add(page_row(url, response.status, body), *mix.read_plainly(body, url, kind))

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        watch.start()
        await asyncio.gather(*(work(session) for _ in range(CONNECTIONS)))
        store.flush()
        watch.stop()
    store.close()
    return _plain_figures(task, watch)


def _plain_figures(task: Task, watch: Stopwatch) -> Figures:
    connection = sqlite3.connect(task.sqlite_file)
    found = {name: int(connection.execute(query).fetchone()[0]) for name, query in _PLAIN.items()}
    connection.close()
    return Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), found, watch.waited_seconds)


def main(task: Task, name: str, contender: str, readers: str = "") -> Figures:
    """Run one contender."""
    mix = MIXES[name]
    if contender == "scrapy":
        return through_scrapy(task, mix)
    if contender == "bare":
        return uvloop.run(through_the_bare_script(task, mix))
    return uvloop.run(through_tidemill(task, mix, int(readers) if readers else None))


if __name__ == "__main__":
    tune_interpreter()
    answer(main(task_from_command_line(), *sys.argv[2:]))
