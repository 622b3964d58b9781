"""Every rule of the pool, in a test in which it fires on a real browser."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from rig.chromium import Browsing, browsing, is_running
from rig.site import a_site
from tidemill.core.services.recycling import PoolLimits, RecycleRules
from tidemill.core.views.browsers import PoolView
from tidemill.store.database.database import open_database
from tidemill.store.services.browsers import BrowserRepository

pytestmark = pytest.mark.shows("F9")

BEAT = PoolLimits(check_every=timedelta(milliseconds=50), publish_every=timedelta(milliseconds=50))
HUGE = 10**12
TEXT = "<p>" + "Dit is een gewone pagina met genoeg tekst om te lezen. " * 4 + "</p>"
MANNERS: dict[str, tuple[dict[str, Any], str]] = {
    "memory_soft": ({"soft_bytes": 1, "hard_bytes": HUGE}, "closed"),
    "memory_hard": ({"soft_bytes": 1, "hard_bytes": 1}, "killed"),
    "pids": ({"max_pids": 1}, "closed"),
    "age": ({"max_age": timedelta(milliseconds=1)}, "closed"),
    "idle": ({"idle_after": timedelta(milliseconds=1)}, "closed"),
    "tasks": ({"max_tasks": 1}, "closed"),
}


@pytest.mark.parametrize("reason", MANNERS)
async def test_a_browser_over_a_limit_is_replaced_and_the_audit_says_so(chromium: str, reason: str):
    rules, manner = MANNERS[reason]
    async with a_site() as site, browsing(chromium, rules=RecycleRules(**rules), limits=BEAT) as browser:
        site.page("/page", TEXT)
        await browser.get(f"{site.origin}/page", "p")
        entry = await browser.until_audited(reason)
        assert (entry.action, entry.detail["outcome"], entry.detail["manner"]) == ("browser_recycle", "success", manner)
        assert not is_running(int(entry.subject.removeprefix("browser ")))


async def test_a_browser_that_is_to_go_finishes_its_page_first(chromium: str):
    rules = RecycleRules(max_age=timedelta(milliseconds=1))
    async with a_site() as site, browsing(chromium, rules=rules, limits=BEAT) as browser:
        site.page("/page", TEXT)
        held = site.hold("/page")
        getting = asyncio.create_task(browser.get(f"{site.origin}/page", "p", obey_robots=False))
        await held.arrived.wait()
        await until_leaving(browser)
        held.opened.set()
        assert (await getting).failure is None
        assert (await browser.until_audited("age")).detail["manner"] == "closed"


async def until_leaving(browser: Browsing) -> None:
    while not all(one.is_leaving for one in browser.pool.state().browsers):
        await browser.clock.sleep_until(browser.clock.now() + BEAT.check_every)


def told_of(pool: PoolView) -> bool:
    return [one.vitals.tasks for one in pool.state.browsers] == [1]


@pytest.mark.shows("H3")
async def test_a_person_has_every_browser_replaced_through_the_database(chromium: str, migrated_sqlite_url: str):
    database = open_database(migrated_sqlite_url)
    repository = BrowserRepository(database)
    async with a_site() as site, browsing(chromium, repository=repository, limits=BEAT) as browser:
        site.page("/page", TEXT)
        await browser.get(f"{site.origin}/page", "p")
        while not [pool for pool in await repository.pools(browser.clock.now()) if told_of(pool)]:
            await browser.clock.sleep_until(browser.clock.now() + BEAT.check_every)
        await repository.ask_to_recycle("ans", browser.clock.now())
        entry = await browser.until_audited("requested")
        assert (entry.detail["trigger"], entry.detail["outcome"]) == ("ans", "success")
        assert (await browser.get(f"{site.origin}/page", "p")).failure is None
    assert await repository.pools(browser.clock.now()) == []
    await database.close()


async def test_a_page_that_eats_memory_is_stopped_by_the_hard_limit(chromium: str):
    rules = RecycleRules(soft_bytes=400_000_000, hard_bytes=400_000_000)
    async with a_site() as site, browsing(chromium, rules=rules, limits=BEAT) as browser:
        eat = "const kept = []; setInterval(() => kept.push(new Uint8Array(2e7).fill(1)), 5)"
        site.page("/greedy", f"<body>{TEXT}<script>{eat}</script>")
        site.page("/page", TEXT)
        result = await browser.get(f"{site.origin}/greedy", "#never", seconds=30)
        await browser.until_audited("memory_hard")
        assert result.failure is not None
        assert (await browser.get(f"{site.origin}/page", "p")).failure is None


@pytest.mark.shows("R6")
@pytest.mark.parametrize("busy", [False, True])
async def test_closing_takes_little_time_and_leaves_nothing_whatever_the_pages_do(chromium: str, *, busy: bool):
    async with a_site() as site:
        site.page("/hangs", "<script>while (true) {}</script>")
        site.page("/page", TEXT)
        own: Any = Browsing(chromium)
        await own.get(f"{site.origin}/page", "p")
        pids = [(one.pid, one.driver_pid) for one in own.pool.state().browsers]
        hanging = [asyncio.create_task(own.get(f"{site.origin}/hangs")) for _ in range(busy)]
        while busy and not site.visits("/hangs"):
            await own.clock.sleep_until(own.clock.now() + BEAT.check_every)
        async with asyncio.timeout(10):
            await own.fetcher.close()
        assert not any(is_running(pid) for pair in pids for pid in pair)
        await asyncio.gather(*hanging)
        await own.plain.close()
