"""A spider of Scrapy scrapes a site through the whole system: its list, the next page and every entry's own page."""

from datetime import timedelta
from typing import Any

from rig.clock import LaterClock
from rig.foreign.scrapy_agenda import AgendaSpider
from rig.site import a_site
from rig.works import the_works
from tidemill.core.pagination import FOLLOWED
from tidemill.store.schema import jobs, pages
from tidemill.verticals.events.store.tables import events

ADAPTER = f"scrapy:{AgendaSpider.__module__}:{AgendaSpider.__name__}"
PATHS = ["/all", "/all?page=2", "/entry/1", "/entry/2", "/entry/3"]
ENDED = {"done", "dead", "refused"}
PLACE: dict[str, Any] = {"city": "Arnhem", "latitude": 51.98, "longitude": 5.91}


def entry(number: int, clock: LaterClock) -> str:
    day = (clock.now() + timedelta(days=number)).date()
    return f"<li><a href=/entry/{number}>more</a> <time>{day}T20:00</time></li>"


async def test_a_spider_s_requests_become_pages_of_the_run_each_once(migrated_sqlite_url: str) -> None:
    clock = LaterClock()
    async with a_site() as site, the_works(migrated_sqlite_url, clock) as works:
        site.page("/all", f"<ul>{entry(1, clock)}{entry(2, clock)}</ul><a class=next href=/all?page=2>next</a>")
        site.page("/all?page=2", f"<ul>{entry(2, clock)}{entry(3, clock)}</ul><a class=next href=/all>first</a>")
        for number in (1, 2, 3):
            site.page(f"/entry/{number}", f"<h1>Concert {number}</h1><p>{'Words about it. ' * 20}</p>")
        await works.system.worker.sign_in()
        source = await works.source(site, paths=["/all"], adapter=ADAPTER, max_pages=20, **PLACE)
        for _ in range(2):
            await works.enqueue(source)
            while any(row["status"] not in ENDED for row in await works.rows(jobs)):
                await works.system.make_drain().run("http")
            await works.system.ticks.chores["close_runs"].run()

        rows = await works.rows(jobs)
        assert {row["status"] for row in rows} == {"done"}
        assert len(rows) == 10
        followed = sorted(row["url"].partition("#")[0] for row in rows[:5] if row["page_number"] >= FOLLOWED)
        assert followed == sorted(site.origin + path for path in PATHS[1:])
        assert [site.visits(path) for path in PATHS] == [2] * len(PATHS)
        found = await works.rows(events)
        assert sorted(row["title"] for row in found) == ["Concert 1", "Concert 2", "Concert 3"]
        assert all("#" not in path for path in site.asked)
        assert any("#tidemill:" in row["url"] for row in await works.rows(pages))
