"""Homes that only a paid actor found are looked up at their own site: politely, by its robots.txt, by one process."""

from datetime import timedelta
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from rig.clock import NOON, seeded_dice
from tidemill.bootstrap.system import build
from tidemill.pipeline.ports import WireResponse
from tidemill.settings import Settings
from tidemill.store.database.database import open_database
from tidemill.verticals.listings.lab.sites import APIFY, TOKEN, entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.world import ACTOR, HomesWorld
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.store.tables import listings

pytestmark = pytest.mark.shows("L3")

ON_ITS_FADING = timedelta(hours=16)


class Watched:
    """The world's sites, with a robots.txt that bars one home; remembers who was asked for what, and when."""

    def __init__(self, world, clock):
        self._sites = HomesTransport(world, clock)
        self._clock = clock
        self.barred = ""
        self.asked = []

    async def send(self, request, before_send):
        parts = urlsplit(request.url)
        if parts.path == "/robots.txt" and parts.netloc == ACTOR:
            await before_send()
            body = f"User-agent: *\nDisallow: {self.barred}\n".encode()
            return WireResponse(status_code=200, headers={"content-type": "text/plain"}, body=body)
        answer = await self._sites.send(request, before_send)
        self.asked.append((parts.netloc, parts.path, self._clock.now()))
        return answer

    async def close(self):
        await self._sites.close()

    def of(self, host):
        return [(path, at) for netloc, path, at in self.asked if netloc == host]


def a_process(url, clock, transport, folder):
    settings = Settings(pages_folder=folder, apify_token=TOKEN, apify_url=f"https://{APIFY}")
    return build(settings, clock=clock, dice=seeded_dice(), database=open_database(url), transport=transport)


@pytest.fixture
async def found(migrated_sqlite_url, clock, tmp_path):
    """A market as the actor found it, hours ago; and a second process on the same database."""
    sites = Watched(HomesWorld(7, NOON, 3, homes_each=6), clock)
    one, two = (a_process(migrated_sqlite_url, clock, sites, tmp_path) for _ in range(2))
    await one.actions.importer.source_entries(entries()[2:], "test")
    await one.worker.sign_in()
    await two.worker.sign_in()
    await one.part(ListingsParts).markets.scrape("nyc", "test")
    while await one.make_drain().run("apify") is not None:
        clock.advance(timedelta(seconds=10))
    yield sites, one, two
    await one.close()
    await two.close()


async def homes(system):
    async with system.store.database.read() as connection:
        return (await connection.execute(select(listings).order_by(listings.c.id))).mappings().all()


async def test_what_an_actor_found_is_looked_up_at_the_site_at_its_pace_and_by_its_robots(found, clock):
    sites, system, _ = found
    shown = await homes(system)
    assert len(shown) >= 2
    sites.barred = urlsplit(shown[0]["url"]).path
    sites.asked.clear()
    clock.advance(ON_ITS_FADING)
    assert await system.ticks.tick("freshness") == "ok"
    visits = sites.of(ACTOR)
    assert sites.of(APIFY) == []
    assert {path for path, _ in visits} == {urlsplit(one["url"]).path for one in shown[1:]}
    times = [at for _, at in visits]
    assert all(later - earlier >= timedelta(seconds=1) for earlier, later in pairwise(times))
    barred, *others = await homes(system)
    assert barred["check_result"].startswith("could not tell: robots")
    assert (barred["is_active"], barred["verified_at"]) == (True, None)
    assert all(one["check_result"] == "there: still shown" for one in others)


async def test_of_two_processes_one_looks_the_homes_up(found, clock):
    sites, one, two = found
    clock.advance(ON_ITS_FADING)
    assert [await one.ticks.tick("freshness"), await two.ticks.tick("freshness")] == ["ok", "taken"]
    visited = [path for path, _ in sites.of(ACTOR)]
    assert len(visited) == len(set(visited)) == len(await homes(one))


async def test_an_address_that_nobody_can_be_asked_at_costs_no_other_home_its_check(found, clock):
    sites, system, _ = found
    async with system.store.database.write() as connection:
        await connection.exec_driver_sql("UPDATE listing_sightings SET url = 'see the office' WHERE id = "
                                         "(SELECT min(id) FROM listing_sightings)")  # fmt: skip
    sites.asked.clear()
    clock.advance(ON_ITS_FADING)
    assert await system.ticks.tick("freshness") == "ok"
    assert len(sites.of(ACTOR)) == len(await homes(system)) - 1
