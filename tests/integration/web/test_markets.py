"""Markets are looked at, added, changed and scraped over HTTP; nonsense gets a message that says what to do."""

from datetime import UTC, datetime

import aiohttp
import msgspec
import pytest
from sqlalchemy import insert

from tidemill.verticals.listings.market import Market
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.store.tables import market_configs


class Admin:
    """A program on this machine that acts."""

    def __init__(self, session, address):
        self._session = session
        self._address = address

    async def send(self, method, path, body=None, **headers):
        url = f"{self._address}/api/admin/markets{path}"
        async with self._session.request(method, url, json=body, headers=headers) as response:
            return response.status, msgspec.json.decode(await response.read()), response.headers


@pytest.fixture
async def admin(sqlite_browser):
    async with aiohttp.ClientSession() as session:
        yield Admin(session, sqlite_browser.address)


SALEM = {"id": "salem", "display_name": "Salem", "city": "Salem", "state": "MA", "tier": "cool"}


@pytest.mark.shows("L1", "A1")
async def test_the_nineteen_markets_are_listed_the_hot_ones_first(admin):
    status, body, _ = await admin.send("GET", "")
    assert status == 200
    assert len(body["items"]) == 19
    assert {one["id"] for one in body["items"][:4]} == {"nyc", "boston", "dc", "philadelphia"}


@pytest.mark.shows("L1")
async def test_a_new_city_is_one_post_and_gets_a_target_of_every_source_that_covers_markets(admin, sqlite_system):
    entry = {"name": "homes", "vertical": "listings", "base_url": "https://homes.test", "adapter": "listings.search",
             "settings": {"market_url": "https://homes.test/{state_slug}/{city_slug}", "markets": "all"}}  # fmt: skip
    done = await sqlite_system.actions.importer.source_entries([entry], "test")
    assert not done.problems
    status, body, _ = await admin.send("POST", "", SALEM)
    assert (status, body["id"], body["tier"]) == (201, "salem", "cool")
    assert len(await sqlite_system.part(ListingsParts).store.markets.targets_of("salem")) == 1
    (target,) = await sqlite_system.store.targets.at("https://homes.test/ma/salem")
    assert (target.schedule, target.scope, target.parameters["city"]) == ("every 24h", "salem", "Salem")


@pytest.mark.shows("L1")
async def test_a_new_city_is_one_insert_that_the_hourly_look_finds(sqlite_system, clock):
    entry = {"name": "homes", "vertical": "listings", "base_url": "https://homes.test", "adapter": "listings.search",
             "settings": {"market_url": "https://homes.test/{market}", "markets": "all"}}  # fmt: skip
    await sqlite_system.actions.importer.source_entries([entry], "test")
    row = {**SALEM, "created_at": clock.now()}
    async with sqlite_system.store.database.write() as connection:
        await connection.execute(insert(market_configs).values(**row))
    await sqlite_system.worker.sign_in()
    assert await sqlite_system.ticks.tick("markets") == "ok"
    (target,) = await sqlite_system.store.targets.at("https://homes.test/salem")
    assert (target.schedule, target.enabled) == ("every 24h", True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tier": "warm"}, "there are hot, standard, cool"),
        ({"state": "Massachusetts"}, "two letters of a state"),
        ({"state": "ZZ"}, "two letters of a state"),
        ({"scrape_frequency_hours": 0}, "write 1 to"),
        ({"scrape_frequency_hours": 48, "tier": "hot"}, "one missed scrape would hide it"),
        ({"max_listings_per_scrape": 0}, "write 1 to"),
        ({"id": "Sa lem!"}, "small letters, digits and dashes"),
        ({"city": "  "}, "1 to 100 characters"),
        ({"colour": "green"}, "colour"),
        ({"tier": None}, "tier"),
        ({"scrape_frequency_hours": True}, "scrape_frequency_hours"),
        ({"max_listings_per_scrape": "many"}, "max_listings_per_scrape"),
        ({"max_listings_per_scrape": 10**30}, "write 1 to"),
        ({"city": "Sa\0lem"}, "1 to 100 characters"),
    ],
)
async def test_nonsense_is_refused_in_words(admin, change, words):
    status, body, _ = await admin.send("POST", "", {**SALEM, **change})
    assert status == 422
    assert words in body["detail"]


async def test_an_id_that_is_taken_is_a_conflict(admin):
    status, body, _ = await admin.send("POST", "", {**SALEM, "id": "nyc"})
    assert status == 409
    assert "there is a market 'nyc' already" in body["detail"]


@pytest.mark.shows("L1")
async def test_a_market_is_changed_and_what_is_not_named_stays(admin):
    status, body, _ = await admin.send("PUT", "/hartford", {"tier": "standard", "max_listings_per_scrape": 250})
    assert (status, body["tier"], body["max_listings_per_scrape"], body["city"]) == (200, "standard", 250, "Hartford")
    status, body, _ = await admin.send("PUT", "/hartford", {"scrape_frequency_hours": 0})
    assert status == 422


async def test_an_unknown_market_is_not_found_and_the_known_ones_are_named(admin):
    status, body, _ = await admin.send("PUT", "/atlantis", {"tier": "hot"})
    assert status == 404
    assert "nyc" in body["detail"]


async def test_a_market_that_is_off_or_covered_by_nobody_cannot_be_scraped(admin):
    status, body, _ = await admin.send("POST", "/nyc/scrape")
    assert status == 422
    assert "no source covers market 'nyc'" in body["detail"]
    await admin.send("PUT", "/nyc", {"is_enabled": False})
    status, body, _ = await admin.send("POST", "/nyc/scrape")
    assert (status, body["code"]) == (409, "conflict")


@pytest.mark.shows("A4")
async def test_another_sites_page_may_not_act(admin):
    status, body, _ = await admin.send("POST", "", SALEM, Origin="https://elsewhere.example")
    assert (status, body["code"]) == (403, "not_allowed")


@pytest.mark.shows("B2")
async def test_a_market_that_fell_behind_is_named_in_status_and_explained(sqlite_system, sqlite_browser, clock):
    entry = {"name": "homes", "vertical": "listings", "base_url": "https://homes.test", "adapter": "listings.search",
             "settings": {"market_url": "https://homes.test/{market}", "markets": "all"}}  # fmt: skip
    await sqlite_system.actions.importer.source_entries([entry], "test")
    await sqlite_system.part(ListingsParts).store.markets.create_targets(clock.now())
    clock.set(datetime(2030, 1, 1, tzinfo=UTC))
    status = (await sqlite_browser.get("/status")).json()
    assert any(late["subject"] == "market nyc" for late in status["overdue"])
    why = (await sqlite_browser.get("/api/v1/why/market:nyc")).json()
    assert "was never scraped" in why["verdict"]


async def test_a_source_that_covers_markets_has_a_target_in_each_as_soon_as_it_is_brought_in(sqlite_system):
    entry = {"name": "homes", "vertical": "listings", "base_url": "https://homes.test", "adapter": "listings.search"}
    good = entry | {"settings": {"market_url": "https://homes.test/{market}", "markets": "all"}}
    bad = entry | {"name": "other", "settings": {"market_url": "https://homes.test/all", "markets": "all"}}
    done = await sqlite_system.actions.importer.source_entries([good, bad], "test")
    assert (done.sources.created, done.from_templates) == (1, 19)
    assert [problem.field for problem in done.problems] == ["settings.market_url"]
    silent = entry | {"name": "third", "settings": {"market_url": "https://homes.test/{market}"}}
    (problem,) = (await sqlite_system.actions.importer.source_entries([silent], "test")).problems
    assert (problem.field, "say which markets" in problem.message) == ("settings.markets", True)
    assert set((await sqlite_system.part(ListingsParts).store.markets.covered()).values()) == {1}


async def test_a_market_whose_city_is_corrected_is_no_longer_scraped_at_its_old_address(admin, sqlite_system):
    entry = {"name": "homes", "vertical": "listings", "base_url": "https://homes.test", "adapter": "listings.search",
             "settings": {"market_url": "https://homes.test/{state_slug}/{city_slug}", "markets": "all"}}  # fmt: skip
    await sqlite_system.actions.importer.source_entries([entry], "test")
    await admin.send("PUT", "/nyc", {"city": "Manhattan", "state": "ny"})
    assert (await sqlite_system.part(ListingsParts).store.markets.covered())["nyc"] == 1
    (old,) = await sqlite_system.store.targets.at("https://homes.test/ny/new-york")
    (new,) = await sqlite_system.store.targets.at("https://homes.test/ny/manhattan")
    assert (old.enabled, new.enabled) == (False, True)


async def test_homes_are_searched_with_clear_errors(sqlite_browser):
    assert (await sqlite_browser.get("/api/v1/listings?market=nyc&rent_to=3000&order=rent")).json()["items"] == []
    assert (await sqlite_browser.get("/api/v1/listings/geojson")).json()["features"] == []
    assert (await sqlite_browser.get("/api/v1/listings?latitude=40")).status == 422
    assert (await sqlite_browser.get("/api/v1/listings?cursor=zz")).status == 422
    for upside_down in ("rent_from=3000&rent_to=1000", "beds_from=3&beds_to=1"):
        answer = await sqlite_browser.get(f"/api/v1/listings?{upside_down}")
        assert answer.status == 422
        assert "swap them" in answer.json()["detail"]
    assert (await sqlite_browser.get("/api/v1/listings?cursor=%C2%B2.1")).status == 422
    assert (await sqlite_browser.get("/api/v1/listings/123")).status == 404


async def test_a_home_that_nobody_knows_cannot_be_saved(sqlite_browser):
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{sqlite_browser.address}/api/v1/listings/123/saves") as response,
    ):
        assert response.status == 404


@pytest.mark.shows("L1")
def test_a_market_knows_how_often_it_is_scraped():
    assert Market(id="x", display_name="X", city="X", state="NY", tier="hot").every.total_seconds() == 6 * 3600
