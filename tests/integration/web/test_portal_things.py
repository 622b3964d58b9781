"""Pages of single things and of readers: why in one wording everywhere, markets and prices by form, lists as files."""

import asyncio
import os
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from integration.web.conftest import Browser, browsing, deps_of
from integration.web.test_portal_acts import post
from integration.web.world import HOSTILE, furnish
from rig.clock import SettableClock, seeded_dice
from rig.postgres_binaries import find_programs
from rig.restartable import a_restartable_server
from rig.rows import a_letter, put
from rig.shopfront import Market, product_page
from tidemill.bootstrap.system import System, build
from tidemill.core.freshness import Badge
from tidemill.settings import load_settings
from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import upgrade
from tidemill.store.schema import dead_letters
from tidemill.verticals.listings.lab.sites import entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.world import HomesWorld
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.portal.pages import badge_colour
from tidemill.web.portal.work import work_pages

pytestmark = pytest.mark.shows("A2")


@pytest.fixture
async def homes(migrated_file: Path, tmp_path: Path, clock: SettableClock) -> AsyncIterator[tuple[System, Browser]]:
    file = shutil.copy(migrated_file, tmp_path / "tidemill.db")
    transport = HomesTransport(HomesWorld(7, clock.now(), 3, homes_each=6), clock)
    system = build(load_settings(database=f"sqlite:///{file}"), clock=clock, dice=seeded_dice(), transport=transport)
    await system.actions.importer.source_entries(entries()[:2], "test")
    await system.worker.sign_in()
    await system.part(ListingsParts).markets.scrape("nyc", "test")
    while await system.make_drain().run("http") is not None:
        clock.advance(timedelta(seconds=2))
    async for browser in browsing(system):
        yield system, browser
    await system.close()


@pytest.fixture
async def shop(migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path) -> AsyncIterator[tuple[System, Browser]]:
    made = Market(open_database(migrated_sqlite_url), clock, tmp_path, max_pending_per_adapter=3)
    await made.shop("acme", [product_page(), product_page(sku="B", price="20.00")], visibility="ELIGIBLE")
    await made.run("acme")
    async for browser in browsing(made.system):
        yield made.system, browser
    await made.system.close()


def steps_shown(page: str) -> list[str]:
    """The steps of an explanation on a page, as text."""
    return [" ".join(each.text().split()) for each in LexborHTMLParser(page).css(".steps dd")]


async def explained_alike(browser: Browser, system: System, subject: str, page: str) -> None:
    """The API, the page of explanations and the thing's own page say what the command line says."""
    said = await system.actions.why.explain(subject)
    wanted = [" ".join(step.detail.split()) for step in said.steps]
    answer = await browser.get(f"/api/v1/why/{subject}")
    assert [" ".join(step["detail"].split()) for step in answer.json()["steps"]] == wanted
    for path in (f"/why?subject={subject}", page):
        shown = await browser.page(path)
        assert shown.status == 200, path
        assert said.verdict in LexborHTMLParser(shown.text).text(), path
        assert steps_shown(shown.text) == wanted, path


@pytest.mark.shows("X7")
async def test_a_home_is_shown_with_its_badge_and_explained_alike_everywhere(
    homes: tuple[System, Browser], clock: SettableClock
) -> None:
    system, browser = homes
    told = []
    for hours in (0, 9, 9, 6):
        clock.advance(timedelta(hours=hours))
        page = LexborHTMLParser((await browser.page("/homes?market=nyc")).text)
        told.append([each.text() for each in page.css(".card .badge")][:1])
    assert told == [["Recently verified"], ["Listed today"], ["May no longer be available"], []]
    (home, *_) = (await browser.get("/api/v1/listings?market=nyc&confidence=0")).json()["items"]
    await explained_alike(browser, system, f"listing:{home['id']}", f"/homes/{home['id']}")
    hidden = (await browser.get(f"/api/v1/why/listing:{home['id']}")).json()["verdict"]
    assert "readers do not see it below 40" in hidden
    field = (await browser.get(f"/api/v1/why/listing:{home['id']}.rent_low")).json()
    assert field["verdict"] == f"rent_low is {home['rent_low']}"
    assert (await browser.get("/api/v1/why/listing:999999")).status == 404
    assert (await browser.page("/homes?rent_from=3000&rent_to=100")).status == 422


def test_each_badge_has_a_colour_of_its_own() -> None:
    assert [badge_colour(Badge(each, "").colour) for each in ("green", "yellow", "orange")] == [
        "good",
        "warn",
        "orange",
    ]


@pytest.mark.shows("O7", "L2")
async def test_a_market_is_added_changed_started_and_removed_by_forms(homes: tuple[System, Browser]) -> None:
    system, browser = homes
    new = {
        "id": "waterdrecht",
        "display_name": "Waterdrecht",
        "city": "Waterdrecht",
        "country": "nl",
        "currency": "eur",
    }
    status, where, _ = await post(browser, "/markets", **new, tier="cool")
    assert (status, where.partition("?")[0]) == (303, "/markets/waterdrecht")
    wrong = await post(browser, "/markets", **{**new, "id": "No Good"})
    assert (wrong[0], "write small letters" in wrong[2], 'value="Waterdrecht"' in wrong[2]) == (422, True, True)
    assert (await post(browser, "/markets/waterdrecht/change", **new, tier="standard", max_listings="7"))[0] == 303
    found = await system.part(ListingsParts).markets.find("waterdrecht")
    assert (found.tier, found.max_listings, found.country, found.currency) == ("standard", 7, "NL", "EUR")
    assert (await post(browser, "/markets/waterdrecht/change", **new, tier="standard", max_listings="many"))[0] == 422
    assert (await post(browser, "/markets/waterdrecht/switch", to="off"))[0] == 303
    assert (await post(browser, "/markets/waterdrecht/scrape"))[0] == 409
    assert (await post(browser, "/markets/waterdrecht/remove"))[0] == 303
    assert (await browser.page("/markets/waterdrecht")).status == 404
    status, _, page = await post(browser, "/markets/nyc/remove")
    assert (status, "switch it off instead" in page) == (409, True)
    assert (await browser.page("/markets/nyc")).status == 200
    (removed, *_) = await system.store.audit.latest(1)
    assert (removed.entry.action, removed.entry.detail["city"]) == ("market.remove", "Waterdrecht")


@pytest.mark.shows("X7")
async def test_a_price_is_corrected_on_its_products_page_and_says_why(shop: tuple[System, Browser]) -> None:
    system, browser = shop
    (product,) = (await browser.get("/api/v1/products?text=harrow")).json()["items"]
    page = (await browser.page(f"/products/{product['id']}")).text
    assert "<svg" in page
    (price, *_) = sorted(set(re.findall(r"/prices/(\d+)/correct", page)))
    path = f"/products/{product['id']}/prices/{price}"
    status, _, refused = await post(browser, f"{path}/correct", amount="cheap", currency="USD", reason="typo")
    assert (status, "is no amount" in refused) == (422, True)
    assert (await post(browser, f"{path}/correct", amount="13.50", currency="USD", reason="typo"))[0] == 303
    said = (await browser.get(f"/api/v1/why/price:{price}")).json()
    assert re.fullmatch(r"readers see 13.50 USD in place of (14.95|20.00) USD, as corrected", said["verdict"])
    assert "corrected" in (await browser.page(f"/products/{product['id']}")).text
    assert (await post(browser, f"{path}/revoke", reason="it was right"))[0] == 303
    assert (await post(browser, f"{path}/ignore", reason="nonsense"))[0] == 303
    assert "no reader sees it" in (await browser.get(f"/api/v1/why/price:{price}")).json()["verdict"]
    await explained_alike(browser, system, f"product:{product['id']}", f"/products/{product['id']}")
    await system.actions.sources.disable("acme", "test")
    assert (await post(browser, f"{path}/burn", reason="x"))[0] == 422


@pytest.mark.shows("X7")
async def test_a_dead_letter_has_a_page_and_leaves_the_list_in_bulk(sqlite_system: System) -> None:
    await furnish(sqlite_system)
    await put(sqlite_system.store.database, dead_letters, a_letter(2, payload={"url": "=cmd()"}))
    async for browser in browsing(sqlite_system):
        await explained_alike(browser, sqlite_system, "letter:1", "/dead-letters/1")
        assert "2 in all" in (await browser.page("/dead-letters")).text
        rows = (await browser.get("/dead-letters/rows.csv")).text
        assert rows.startswith("letter,since,source,why")
        assert ",'=cmd()," in rows
        assert (await browser.page("/dead-letters?colour=red")).status == 422
        status, _, asked = await post(browser, "/dead-letters/ticked", deed="discard", key="1")
        assert (status, "cannot be undone" in asked) == (200, True)
        assert (await sqlite_system.actions.dead_letters.find(1)).letter.status == "pending"
        status, where, _ = await post(
            browser, "/dead-letters/ticked", deed="discard", key="1", confirmed="yes", notes="known"
        )
        assert (status, "discarded" in where) == (303, True)
        assert (await sqlite_system.actions.dead_letters.find(1)).letter.status != "pending"
        assert (await post(browser, "/dead-letters/ticked", deed="discard"))[0] == 422
        assert (await browser.page("/dead-letters/77")).status == 404


async def test_hostile_words_stay_words_on_every_list_thing_and_file(sqlite_system: System) -> None:
    await furnish(sqlite_system, titles=HOSTILE, name=HOSTILE[0])
    letters = [a_letter(key, payload={"url": words}, error_message=words) for key, words in enumerate(HOSTILE, start=2)]
    await put(sqlite_system.store.database, dead_letters, *letters)
    pages = [each.path for each in work_pages(deps_of(sqlite_system))]
    things = [f"/dead-letters/{key}" for key in range(1, 7)]
    events = ["/events", *(f"/events/{key}" for key in range(1, 6))]
    async for browser in browsing(sqlite_system):
        for path in [*pages, *things, *events, "/", "/sources", "/why?subject=letter:3", "/targets/1"]:
            answer = await browser.page(path)
            assert answer.status == 200, path
            for words in ("<script>alert", "<img src=x", "<svg onload", "<b>bold"):
                assert words not in answer.text, path


def quietly(words: str, error: Exception) -> None:
    """Our own troubles are expected here: the pages are what is looked at."""
    del words, error


SHOWN_WHILE_AWAY = ("/", "/work", "/sources", "/dead-letters", "/markets", "/products", "/homes", "/events", "/why",
                    "/system", "/pages", "/runs", "/exports", "/targets/1", "/audit", "/people")  # fmt: skip


async def says_so_everywhere(browser: Browser) -> dict[str, Any]:
    """What each page answers that does not say in words, with 503, that the database is away."""
    odd: dict[str, Any] = {}
    for path in SHOWN_WHILE_AWAY:
        answer = await asyncio.wait_for(browser.page(path), 60)
        words = answer.text
        if answer.status != 503 or "Traceback" in words or "sqlalchemy" in words or "/static/tidemill.css" not in words:
            odd[path] = (answer.status, " ".join(LexborHTMLParser(words).text().split())[:200])
    return odd


async def test_every_page_says_so_while_postgresql_is_away() -> None:
    programs = find_programs(os.environ.get("POSTGRES_BIN", ""))  # noqa: TID251 - as conftest does
    if programs is None:
        pytest.skip("there is no PostgreSQL on this machine")
    with a_restartable_server(programs) as server:
        system = build(load_settings(database=server.url))
        await upgrade(system.store.database)
        await furnish(system)
        async for browser in browsing(system, report_bug=quietly):
            assert (await browser.page("/sources")).status == 200
            server.stop()
            assert await says_so_everywhere(browser) == {}
            server.start()
            assert (await browser.page("/sources")).status == 200
        await system.close()


async def test_every_page_says_so_while_the_tables_are_of_another_version(tmp_path: Path, migrated_file: Path) -> None:
    file = shutil.copy(migrated_file, tmp_path / "tidemill.db")
    other = sqlite3.connect(file)
    other.execute("UPDATE alembic_version SET version_num = '0001'")
    other.commit()
    other.close()
    system = build(load_settings(database=f"sqlite:///{file}"))
    async for browser in browsing(system, report_bug=quietly):
        assert await says_so_everywhere(browser) == {}
        assert "tidemill migrate" in (await browser.page("/exports")).text
    await system.close()


async def test_pages_are_read_while_somebody_locks_sqlite(tmp_path: Path, migrated_file: Path) -> None:
    """Reading goes on while another process writes for long; a deed says that the database is busy."""
    file = shutil.copy(migrated_file, tmp_path / "tidemill.db")
    system = build(load_settings(database=f"sqlite:///{file}"))
    await furnish(system)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async for browser in browsing(system, report_bug=quietly):
        for path in ("/", "/sources", "/dead-letters", "/work"):
            answer = await asyncio.wait_for(browser.page(path), 60)
            assert answer.status == 200, path
        other.execute("ROLLBACK")
        other.close()
    await system.close()
