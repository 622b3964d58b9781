"""Pages that need JavaScript: ours with every gate on, beside plain Playwright code on the same Chromium.

Both show the same pages, wait for the same element, keep as many pages open at once and leave the same things out.
They take turns in short rounds, so that whatever else the machine does hits both alike.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from statistics import median
from typing import Any

from playwright.async_api import BrowserContext, Route, async_playwright

from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, answer, task_from_command_line
from tidemill.core.audit import AuditEntry
from tidemill.core.pacing import Pace
from tidemill.core.services.degradation import Service
from tidemill.core.services.recycling import PoolLimits
from tidemill.engine.clock import RealClock
from tidemill.fetching.browsers.chromium import FLAGS
from tidemill.fetching.browsers.fetcher import BrowserFetcher
from tidemill.fetching.browsers.find_browser import find_browser
from tidemill.fetching.browsers.opening import open_pool
from tidemill.fetching.http import http_fetcher
from tidemill.lab.scripted import ScriptedSite
from tidemill.pipeline.ports import FetchRequest

AT_ONCE = 3
ROUNDS = 5
WHOLE = "#agenda article"
LEFT_OUT = frozenset({"image", "font", "media"})
USUAL_FLAGS = [flag for flag in FLAGS if not flag.startswith(("--host-resolver-rules", "--blink", "--disable-remote"))]

Get = Callable[[str], Awaitable[str]]


class DeafBook:
    """A book of services that nobody reads."""

    async def degraded(self, service: Service, why: str) -> None:
        msg = f"{service}: {why}"
        raise RuntimeError(msg)

    async def works(self, service: Service) -> None:
        """Nothing to note."""

    def probe_with(self, service: Service, probe: Any) -> None:
        """Nothing to ask."""


async def no_audit(_entry: AuditEntry) -> None:
    """Nothing is written down here."""


def ours(fetcher: BrowserFetcher) -> Get:
    async def get(url: str) -> str:
        pace = Pace(timedelta(0), parallel=AT_ONCE)
        result = await fetcher.fetch(FetchRequest(url=url, host="bench", pace=pace, options={"wait_for": WHOLE}))
        return result.body.decode()

    return get


async def sift(route: Route) -> None:
    await (route.abort() if route.request.resource_type in LEFT_OUT else route.continue_())


def plain(context: BrowserContext) -> Get:
    at_once = asyncio.Semaphore(AT_ONCE)

    async def get(url: str) -> str:
        async with at_once:
            page = await context.new_page()
            await page.goto(url, wait_until="commit")
            await page.wait_for_selector(WHOLE, state="attached")
            markup = await page.content()
            await page.close()
            return markup

    return get


async def minute(get: Get, urls: list[str]) -> float:
    """Pages a minute over these, every one of them whole."""
    watch = Stopwatch()
    watch.start()
    pages = await asyncio.gather(*map(get, urls))
    watch.stop()
    assert all("<h2>Concert nummer" in page for page in pages)
    return 60 * len(urls) / watch.seconds


async def run(pages: int) -> Figures:
    program, clock, watch = find_browser(), RealClock(), Stopwatch()
    http = http_fetcher(clock, allow=["127.0.0.0/8"])
    limits = PoolLimits(contexts=AT_ONCE, per_host=AT_ONCE)
    pool = open_pool(program, clock, no_audit, allow=["127.0.0.0/8"], limits=limits)
    fetcher = BrowserFetcher(http, lambda: pool, DeafBook(), clock)  # type: ignore[arg-type]
    async with ScriptedSite(pages) as site, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=USUAL_FLAGS)
        context = await browser.new_context()
        await context.route("**/*", sift)
        urls = [site.origin + path for path in site.paths]
        contenders = {"ours": ours(fetcher), "plain": plain(context)}
        for get in contenders.values():
            await minute(get, urls[:AT_ONCE])
        watch.start()
        speeds: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(ROUNDS):
            for name, get in contenders.items():
                speeds[name].append(await minute(get, urls))
        watch.stop()
        await fetcher.close()
        await http.close()
        await browser.close()
    ratios = [mine / theirs for mine, theirs in zip(speeds["ours"], speeds["plain"], strict=True)]
    extra = {"browser_ratio": median(ratios), "pages_a_minute": median(speeds["ours"])}
    extra["plain_pages_a_minute"] = median(speeds["plain"])
    found = {"pages": 2 * ROUNDS * pages}
    return Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), found, watch.waited_seconds, extra)


if __name__ == "__main__":
    task_from_command_line()
    answer(asyncio.run(run(int(sys.argv[2]))))
