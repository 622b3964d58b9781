"""Stored pages read again: our replay with two readers, beside tuned Scrapy parsing the same from its HTTP cache.

After the task: `tidemill`, `fill` or `scrapy`, then `present` (the contest's own pages) or `mixed`. `fill` lets Scrapy
fetch everything into its cache; `scrapy` then reads from there, asks for no robots.txt and writes nothing, while a
replay also compares each record with what was kept and keeps the result.
"""

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
import uvloop
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response

from benchmarks.contenders import mixed, tidemill_system
from benchmarks.contenders.scrapy_spider import JSON_LD, TUNED
from benchmarks.mixed_pages import CARDS, SELECTORS, mixed_urls
from benchmarks.mixed_reading import rows_of_blocks, rows_of_cards
from benchmarks.plain_reading import rows_of
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.bootstrap.system import build
from tidemill.core.run import Trigger
from tidemill.engine.interpreter import tune_interpreter
from tidemill.operations.replay.requests import ReplayRequest
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

READERS = 2
MIXED = "mixed"
WATCH = Stopwatch()


async def through_tidemill(task: Task, corpus: str) -> Figures:
    """Scraped first, which is not timed, then replayed."""
    entries = mixed.entries if corpus == MIXED else tidemill_system.entries
    own: dict[str, Any] = {"reader_processes": READERS, "replay_cpu_share": 1.0}
    system, watch = build(load_settings(**tidemill_system.settings_for(task), **own)), Stopwatch()
    found = {"pages": 0, "records": 0, "differing": 0}
    try:
        await upgrade(system.store.database)
        imported = await system.actions.importer.source_entries(list(entries(task)), "bench")
        assert not imported.problems, imported.problems
        await system.worker.sign_in()
        for source in await system.store.sources.every():
            await system.dispatcher.enqueue(await system.store.agenda.of_source(source.id), Trigger.MANUAL)
        await system.make_drain().run("http")
        replays, seconds, cpu, waited = system.actions.replays, 0.0, 0.0, 0.0
        for vertical in ("events", "prices"):
            number = (await replays.start(ReplayRequest(vertical=vertical, pages=task.pages), "bench")).id
            watch.start()
            shown = await replays.run(number)
            watch.stop()
            seconds, cpu, waited = seconds + watch.seconds, cpu + watch.cpu_seconds, waited + watch.waited_seconds
            assert shown.report is not None
            found["pages"] += shown.report.pages["compared"]
            found["records"] += shown.report.now
            found["differing"] += shown.report.pages_differing
    finally:
        await system.close()
    return Figures(seconds, cpu, peak_megabytes(), found, waited, {"replayed_pages_per_second": task.pages / seconds})


class Cached(scrapy.Spider):
    """Asks for every page and yields an item per record."""

    name = "cached"

    def __init__(self, task: Task, corpus: str) -> None:
        super().__init__()
        self.task, self.corpus = task, corpus
        self.pages = self.records = 0

    async def start(self) -> AsyncIterator[scrapy.Request]:
        WATCH.start()
        if self.corpus != MIXED:
            for url in self.task.urls():
                yield scrapy.Request(url, dont_filter=True)
            return
        for url, kind in mixed_urls(self.task):
            yield scrapy.Request(url, self.parse_cards if kind == CARDS else self.parse_blocks, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        yield from self._items(rows_of(response.xpath(JSON_LD).getall(), response.url))

    def parse_cards(self, response: Response) -> Iterator[Any]:
        fields = ("h3 a::text", ".wanneer::text", ".waar::text", "h3 a::attr(href)", ".intro::text")
        cards = [tuple(item.css(field).get("") for field in fields) for item in response.css(SELECTORS["item"])]
        yield from self._items(rows_of_cards(cards, response.url))  # type: ignore[arg-type]

    def parse_blocks(self, response: Response) -> Iterator[Any]:
        events, products = rows_of_blocks(response.xpath(JSON_LD).getall(), response.url)
        yield from self._items([*events, *products])

    def _items(self, rows: Any) -> Iterator[Any]:
        self.pages += 1
        for row in rows:
            self.records += 1
            yield {"record": row}

    def closed(self, reason: str) -> None:
        assert reason == "finished", reason
        WATCH.stop()


def through_scrapy(task: Task, corpus: str, *, fills: bool) -> Figures:
    """Read from the cache; `fills` fetches everything into it."""
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": task.folder, "HTTPCACHE_IGNORE_MISSING": not fills}
    process = AsyncCrawlerProcess({**TUNED, "ROBOTSTXT_OBEY": False, **cache})
    crawler = process.create_crawler(Cached)
    process.crawl(crawler, task=task, corpus=corpus)
    process.start()
    spider: Any = crawler.spider
    found = {"pages": spider.pages, "records": spider.records, "differing": 0}
    extra = {"replayed_pages_per_second": task.pages / WATCH.seconds}
    return Figures(WATCH.seconds, WATCH.cpu_seconds, peak_megabytes(), found, WATCH.waited_seconds, extra)


if __name__ == "__main__":
    tune_interpreter()
    told, contender, pages = task_from_command_line(), sys.argv[2], sys.argv[3]
    if contender == "tidemill":
        answer(uvloop.run(through_tidemill(told, pages)))
    else:
        answer(through_scrapy(told, pages, fills=contender == "fill"))
