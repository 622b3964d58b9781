"""Scrapy, tuned: high concurrency, uvloop, one item at a time, and nothing switched on that this work does not need.

`tuned` is how a good Scrapy project would do this work: Scrapy's own selectors, an item per event, through an item
pipeline into the database; what Tidemill does for every page is done for every page here too: robots.txt is obeyed,
failed requests are tried again, redirects followed, bodies unpacked. `lean` leaves these four out, since on these pages
nobody would notice. `stripped` goes on where nobody would: no middleware, extension, statistics or duplicate filter is
left at all, the callback parses with Lexbor as the bare script does, and all events of a page go as one item, so that
the pipeline is called once a page.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response
from scrapy.settings.default_settings import DOWNLOADER_MIDDLEWARES_BASE, EXTENSIONS_BASE, SPIDER_MIDDLEWARES_BASE

from benchmarks.plain_reading import EVENT_COLUMNS, EventRow, events_on, rows_of
from benchmarks.plain_store import PageRow, PostgresStore, SqliteStore, page_row
from benchmarks.results import found_in_plain_postgres, found_in_plain_sqlite
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.engine.interpreter import tune_interpreter

TUNED: dict[str, Any] = {
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "CONCURRENT_ITEMS": 1,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 50_000_000,
    "REFERER_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "ROBOTSTXT_OBEY": True,
    "COOKIES_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "DOWNLOADER_STATS": False,
    "TELNETCONSOLE_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "LOG_ENABLED": False,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,
}
LEAN = TUNED | {
    "ROBOTSTXT_OBEY": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "COMPRESSION_ENABLED": False,
}
STRIPPED = LEAN | {
    "DOWNLOADER_MIDDLEWARES": dict.fromkeys(DOWNLOADER_MIDDLEWARES_BASE),
    "SPIDER_MIDDLEWARES": dict.fromkeys(SPIDER_MIDDLEWARES_BASE),
    "EXTENSIONS": dict.fromkeys(EXTENSIONS_BASE),
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
}
WAYS = {"tuned": TUNED, "lean": LEAN, "stripped": STRIPPED}

JSON_LD = '//script[@type="application/ld+json"]/text()'
WATCH = Stopwatch()


class PageItem:
    """A page as it came, and the events on it that do not travel as items of their own."""

    __slots__ = ("events", "page")

    def __init__(self, page: PageRow, events: list[EventRow]) -> None:
        self.page = page
        self.events = events


class SqlitePipeline:
    """Collects items and writes them batch by batch."""

    def __init__(self, crawler: Crawler) -> None:
        self._store = SqliteStore(crawler.spider.task.sqlite_file)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "SqlitePipeline":
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, PageItem):
            self._store.add(item.page, item.events)
        else:
            self._store.add_event(tuple(item.values()))
        return item

    def close_spider(self) -> None:
        self._store.flush()
        WATCH.stop()
        self._store.close()


class PostgresPipeline:
    """The same into PostgreSQL."""

    def __init__(self, crawler: Crawler) -> None:
        self._store = PostgresStore(crawler.spider.task.database)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "PostgresPipeline":
        return cls(crawler)

    async def open_spider(self) -> None:
        await self._store.open()

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, PageItem):
            await self._store.add(item.page, item.events)
        else:
            self._store.add_event(tuple(item.values()))
        return item

    async def close_spider(self) -> None:
        await self._store.flush()
        WATCH.stop()
        await self._store.close()


class Agenda(scrapy.Spider):
    """Asks for every page and yields what stands on it."""

    name = "agenda"

    def __init__(self, task: Task, columns: tuple[str, ...]) -> None:
        super().__init__()
        self.task = task
        self.columns = columns

    async def start(self) -> AsyncIterator[scrapy.Request]:
        WATCH.start()
        for url in self.task.urls():
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        url, body = response.url, response.body
        page = page_row(url, response.status, body)
        if not self.columns:
            yield PageItem(page, events_on(body, url))
            return
        for event in rows_of(response.xpath(JSON_LD).getall(), url):
            yield dict(zip(self.columns, event, strict=True))
        yield PageItem(page, [])


def run(task: Task, way: str) -> Figures:
    pipeline = SqlitePipeline if task.is_sqlite else PostgresPipeline
    process = AsyncCrawlerProcess({**WAYS[way], "ITEM_PIPELINES": {pipeline: 100}})
    process.crawl(Agenda, task=task, columns=() if way == "stripped" else EVENT_COLUMNS)
    process.start()
    found = (
        found_in_plain_sqlite(task.sqlite_file)
        if task.is_sqlite
        else asyncio.run(found_in_plain_postgres(task.database))
    )
    return Figures(WATCH.seconds, WATCH.cpu_seconds, peak_megabytes(), found, WATCH.waited_seconds)


if __name__ == "__main__":
    tune_interpreter()  # as ours
    answer(run(task_from_command_line(), sys.argv[2]))
