"""A source in the browser, in the running system: its site is asked no faster than its pace, scripts included."""

from datetime import timedelta
from itertools import pairwise

import pytest

from rig.works import the_works
from tidemill.core.urls import registrable_domain
from tidemill.lab.scripted import ScriptedSite
from tidemill.store.schema import hosts, pages
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("F6")

INTERVAL = 0.4
REQUESTS = 3
"""Of each page: its document, its script, and what the script asks for."""


@pytest.mark.usefixtures("chromium")
async def test_the_next_page_waits_for_everything_that_the_last_one_asked_for(migrated_sqlite_url: str):
    async with ScriptedSite(3) as site, the_works(migrated_sqlite_url) as works:
        pace = {"interval_seconds": INTERVAL}
        source = await works.source(site, fetcher="browser", pace=pace, settings={"wait_for": "article"})
        await works.enqueue(source)
        await works.system.worker.sign_in()
        began = works.system.clock.now()
        while (moment := await works.system.make_drain().run("browser")) is not None:
            await works.system.clock.sleep_until(moment)
        assert await works.count(events) == 3
        left = sorted(row["created_at"] for row in await works.rows(pages))
        assert all(later - sooner >= timedelta(seconds=REQUESTS * INTERVAL) for sooner, later in pairwise(left))
        (host,) = await works.rows(hosts, host=registrable_domain(site.origin))
        assert host["tab_at"] - began >= timedelta(seconds=3 * REQUESTS * INTERVAL)
