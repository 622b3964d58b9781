"""Two hundred pages in a browser that is killed, loses its driver and hangs on the way: all come, none stays."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from statistics import median
from typing import Any

import pytest

from rig.chromium import descendants
from rig.works import the_works
from tidemill.bootstrap.system import System
from tidemill.core.source import FetcherKind
from tidemill.fetching.browsers.fetcher import BrowserFetcher
from tidemill.fetching.browsers.pool import BrowserPool
from tidemill.lab.scripted import ScriptedSite
from tidemill.store.schema import audit_log, dead_letters, jobs, pages
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("B14")

PAGES = 200
UNHURRIED = {"interval_seconds": 0, "burst": 1, "parallel": 4}
SETTINGS = {"browser_contexts": 3, "browser_contexts_per_host": 3, "browser_max_pages": 60}
HANGS = "/agenda/150"
MEGABYTE = 1_000_000


@asynccontextmanager
async def scraping(url: str, site: ScriptedSite, **settings: Any):
    """A system with one source that needs a browser, its jobs in the queue."""
    async with the_works(url, **settings) as works:
        fields: dict[str, Any] = {"fetcher": "browser", "pace": UNHURRIED, "timeout_seconds": 4,
                                  "settings": {"wait_for": "#agenda article"}}  # fmt: skip
        await works.enqueue(await works.source(site, **fields))
        await works.system.worker.sign_in()
        yield works


def pool_of(system: System) -> BrowserPool:
    fetcher = system.fetchers[FetcherKind.BROWSER]
    assert isinstance(fetcher, BrowserFetcher)
    assert fetcher.pool is not None
    return fetcher.pool


async def work_off(system: System) -> None:
    """Drain until nothing waits any more."""
    while (moment := await system.make_drain().run("browser")) is not None:
        await system.clock.sleep_until(moment)


@pytest.mark.usefixtures("chromium")
async def test_two_hundred_cycles_with_a_killed_browser_a_killed_driver_and_a_hung_page(migrated_sqlite_url):
    before = set(descendants(os.getpid()))
    async with ScriptedSite(PAGES) as site, scraping(migrated_sqlite_url, site, **SETTINGS) as works:
        site.hanging.add(HANGS)
        figures: list[tuple[int, int]] = []

        async def harm(after: int, what: str) -> None:
            await site.until_asked(after)
            state = pool_of(works.system).state()
            victim = next(one for one in state.browsers if not one.is_leaving)
            figures.append((victim.vitals.memory_bytes, victim.vitals.pids))
            if what:
                os.kill(getattr(victim, what), signal.SIGKILL)

        plan = ((30, ""), (50, "pid"), (90, ""), (110, "driver_pid"), (190, ""))
        harms = [asyncio.create_task(harm(*each)) for each in plan]
        await work_off(works.system)
        for each in harms:
            await each

        assert await works.count(events) == PAGES
        assert {row["status"] for row in await works.rows(jobs)} == {"done"}
        assert await works.count(dead_letters) == 0
        assert {row["fetcher_used"] for row in await works.rows(pages)} == {"browser"}
        await works.system.close()
        async with the_works(migrated_sqlite_url) as afterwards:
            deeds = [(row["action"], row["detail"]) for row in await afterwards.rows(audit_log)]
    recycles = [detail for action, detail in deeds if action == "browser_recycle"]
    assert [detail["reason"] for detail in recycles].count("browser_died") == 1
    assert [detail["reason"] for detail in recycles].count("driver_died") == 1
    assert [detail["reason"] for detail in recycles].count("tasks") >= 1
    assert {detail["outcome"] for detail in recycles} == {"success"}
    assert [detail["reason"] for action, detail in deeds if action == "context_pool_reset"] == ["hung"]
    memory = [used for used, _ in figures]
    assert max(memory) - min(memory) < max(200 * MEGABYTE, median(memory))
    assert max(count for _, count in figures) <= 4 + 2 * (SETTINGS["browser_contexts"] + 1)
    assert set(descendants(os.getpid())) <= before
