"""What readers get over HTTP of homes that were really scraped: badges, what a rent was, a map, pages, and ageing."""

import shutil
from datetime import timedelta

import pytest

from rig.clock import NOON, seeded_dice
from tidemill.bootstrap.system import build
from tidemill.settings import load_settings
from tidemill.verticals.listings.lab.sites import entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.world import HomesWorld
from tidemill.verticals.listings.parts import ListingsParts

from .conftest import browsing

SEARCH = "/api/v1/listings"


@pytest.fixture
async def market(migrated_file, tmp_path, clock):
    """New York as two sites show it, scraped once; and somebody who asks."""
    file = shutil.copy(migrated_file, tmp_path / "tidemill.db")
    transport = HomesTransport(HomesWorld(7, NOON, 3, homes_each=10), clock)
    settings = load_settings(database=f"sqlite:///{file}")
    system = build(settings, clock=clock, dice=seeded_dice(), transport=transport)
    await system.actions.importer.source_entries(entries()[:2], "test")
    await system.worker.sign_in()
    await scrape(system, clock)
    async for browser in browsing(system):
        yield system, browser
    await system.close()


async def scrape(system, clock):
    await system.part(ListingsParts).markets.scrape("nyc", "test")
    while await system.make_drain().run("http") is not None:
        clock.advance(timedelta(seconds=2))


@pytest.mark.shows("L5")
async def test_a_search_goes_on_from_page_to_page_and_tells_how_fresh_each_home_is(market):
    _, browser = market
    everything = (await browser.get(f"{SEARCH}?market=nyc&limit=500")).json()["items"]
    seen: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await browser.get(f"{SEARCH}?market=nyc&limit=4{cursor and '&cursor=' + cursor}")).json()
        seen += [home["id"] for home in page["items"]]
        cursor = page["next"]
    assert seen == [home["id"] for home in everything]
    assert len(seen) > 4
    home = everything[0]
    assert home["badge"] == {"colour": "green", "text": "Recently verified"}
    assert (home["city"], home["state"], home["times_seen"]) == ("New York", "NY", 1)
    assert home["first_seen_at"] <= home["last_seen_at"]


@pytest.mark.shows("L5")
async def test_homes_age_before_readers_eyes_until_they_are_no_longer_shown(market, clock):
    _, browser = market
    told = []
    for hours in (9, 6, 3, 6):
        clock.advance(timedelta(hours=hours))
        items = (await browser.get(f"{SEARCH}?market=nyc&limit=1")).json()["items"]
        told.append(items[0]["badge"]["text"] if items else "")
    assert told == ["Listed today", "Listed today", "May no longer be available", ""]
    assert (await browser.get(f"{SEARCH}?market=nyc&confidence=0")).json()["items"]


@pytest.mark.shows("A5")
async def test_a_map_has_every_home_that_tells_where_it_is(market):
    _, browser = market
    homes = (await browser.get(f"{SEARCH}?market=nyc&limit=500")).json()["items"]
    features = (await browser.get(f"{SEARCH}/geojson?market=nyc")).json()["features"]
    placed = {home["id"]: [home["longitude"], home["latitude"]] for home in homes if home["latitude"] is not None}
    assert {one["id"]: one["geometry"]["coordinates"] for one in features} == placed
    longitude, latitude = placed[features[0]["id"]]
    near = await browser.get(f"{SEARCH}?latitude={latitude}&longitude={longitude}&radius_km=0.01")
    assert features[0]["id"] in {home["id"] for home in near.json()["items"]}


@pytest.mark.shows("L4")
async def test_a_rent_that_moved_says_what_it_was(market, clock):
    system, browser = market
    clock.advance(timedelta(days=2.9))
    await scrape(system, clock)
    homes = (await browser.get(f"{SEARCH}?market=nyc&limit=500")).json()["items"]
    moved = [home for home in homes if home["previous_rent"]]
    assert moved
    for home in moved:
        assert home["rent_note"] == f"was ${home['previous_rent'] / 100:,.0f}, now ${home['rent_low'] / 100:,.0f}"
    story = (await browser.get(f"{SEARCH}/{moved[0]['id']}")).json()
    assert any("rent_low" in line["changes"] for line in story["history"])
