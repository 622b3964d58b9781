"""What else an operator does, in a real browser: with the mouse, with the keyboard alone, and without scripts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from integration.web.conftest import browsing
from integration.web.test_candidates import found
from integration.web.world import furnish
from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.bootstrap.system import System, build
from tidemill.core.access.roles import Role
from tidemill.settings import load_settings
from tidemill.store.database.database import open_database
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.views import OfferFilter

from .test_portal import FLAGS
from .test_portal_acts import choose_a_password
from .test_portal_tasks import Clicks

pytestmark = pytest.mark.shows("A2")

MARKET = {
    "id": "waterdrecht", "display_name": "Waterdrecht", "city": "Waterdrecht", "country": "nl", "currency": "eur",
}  # fmt: skip


@dataclass(frozen=True)
class Way:
    """How somebody works with the portal."""

    chromium: str
    scripts: bool
    keyboard: bool


@pytest.fixture(params=[(True, False), (True, True), (False, False)], ids=["mouse", "keyboard", "no scripts"])
def way(request: pytest.FixtureRequest, chromium: str) -> Way:
    return Way(chromium, *request.param)


@asynccontextmanager
async def at_work(system: System, way: Way) -> AsyncIterator[Clicks]:
    async with async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=way.chromium, args=list(FLAGS))
        context = await program.new_context(
            java_script_enabled=way.scripts, viewport={"width": 1280, "height": 900}, accept_downloads=True
        )
        page = await context.new_page()
        async for browser in browsing(system):
            yield Clicks(page, browser.address, keyboard=way.keyboard)
        await program.close()


@pytest.fixture
async def system(migrated_sqlite_url: str, clock: SettableClock) -> AsyncIterator[System]:
    built = build(load_settings(database=migrated_sqlite_url), clock=clock)
    await furnish(built)
    yield built
    await built.close()


@pytest.fixture
async def shop(migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(open_database(migrated_sqlite_url), clock, tmp_path)
    zero = product_page(price="0.00", sku="Z")
    await made.shop("acme", [product_page(), product_page(sku="B", price="20.00"), zero], visibility="ELIGIBLE")
    await made.run("acme")
    yield made
    await made.system.close()


async def main_text(page: Page) -> str:
    return (await page.text_content("main")) or ""


async def test_a_csv_with_two_bad_rows_keeps_the_good_one_and_names_the_lines(
    system: System, way: Way, tmp_path: Path
) -> None:
    rows = tmp_path / "targets.csv"
    rows.write_text("source,url\nTown hall,https://a.example/one\nNobody,https://a.example/two\nTown hall,no address\n")
    async with at_work(system, way) as clicks:
        await clicks.open("/work")
        await clicks.press("text=Import targets")
        await clicks.page.set_input_files("form[action='/import-targets'] input[type=file]", rows)
        await clicks.press("form[action='/import-targets'] button")
        assert "1 added" in await clicks.said()
        text = await main_text(clicks.page)
        lines = await clicks.page.locator("td.n").all_text_contents()
    assert "2 rows that were left out" in text
    assert lines == ["3", "4"]
    assert clicks.count == 2


async def test_a_drifted_adapter_is_switched_on_after_its_dry_run(shop: Market, way: Way) -> None:
    await shop.system.actions.adapters.disable("prices.generic", "drift", "half of the prices are missing")
    async with at_work(shop.system, way) as clicks:
        await clicks.open("/work")
        assert "half of the prices are missing" in await main_text(clicks.page)
        await clicks.press("text=Dry run, then on")
        said = await clicks.said()
    assert "is on after a dry run" in said
    assert [each.enabled for each in await shop.system.actions.adapters.every() if each.id == "prices.generic"] == [
        True
    ]
    assert clicks.count == 1


async def test_a_quarantined_price_is_released_with_its_field_put_right(shop: Market, way: Way) -> None:
    async with at_work(shop.system, way) as clicks:
        await clicks.open("/work")
        await clicks.press("section:has(h2:has-text('In quarantine')) .tasks a")
        await clicks.press("summary:has-text('Release')")
        await clicks.write("input[name=field]", "price")
        await clicks.write("input[name=value]", "9.99")
        await clicks.press("form[action$='/release'] button")
        assert "is published" in await clicks.said()
    offers = await shop.system.part(PricesParts).store.views.offers(OfferFilter(), limit=10)
    assert sorted(each.price_cents for each in offers) == [999, 1495, 2000]
    assert clicks.count == 3


async def test_a_discovered_source_is_approved(system: System, way: Way) -> None:
    (number,) = await found(system)
    async with at_work(system, way) as clicks:
        await clicks.open("/work")
        await clicks.press("section:has(h2:has-text('Discovered sites')) button")
        assert await clicks.said()
    assert (await system.discovery.find(number)).status == "approved"
    assert clicks.count == 1


async def test_a_market_is_added(system: System, way: Way) -> None:
    async with at_work(system, way) as clicks:
        await clicks.open("/markets")
        await clicks.press("summary:has-text('Add a market')")
        for name, value in MARKET.items():
            await clicks.write(f"form[action='/markets'] input[name={name}]", value)
        await clicks.press("form[action='/markets'] button")
        await clicks.page.wait_for_url("**/markets/waterdrecht**")
    assert (await system.part(ListingsParts).markets.find("waterdrecht")).city == "Waterdrecht"
    assert clicks.count == 2


async def test_browsers_are_recycled(system: System, way: Way) -> None:
    async with at_work(system, way) as clicks:
        await clicks.open("/system")
        await clicks.press("summary:has-text('Recycle browsers')")
        await clicks.press("form[action='/system/recycle'] button")
        assert "replaced" in await clicks.said()
    assert "manual_trigger" in [each.entry.action for each in await system.store.audit.latest()]
    assert clicks.count == 2


async def test_a_viewers_token_is_made_and_refused_an_act(system: System, way: Way) -> None:
    link = await system.actions.people.first_link("test")
    async with at_work(system, way) as clicks:
        await choose_a_password(clicks.page, clicks.address, link, "anna")
        await clicks.open("/people")
        await clicks.write("form[action='/tokens'] input[name=name]", "dashboard")
        await clicks.press("form[action='/tokens'] button")
        secret = await clicks.page.text_content("[role=status] code") or ""
        headers = {"Authorization": f"Bearer {secret}"}
        async with async_playwright() as driver:
            program = await driver.request.new_context(base_url=clicks.address, extra_http_headers=headers)
            seen, acted = await program.get("/api/v1/sources"), await program.post("/api/v1/breakers/reset")
            said = await acted.json()
            await program.dispose()
        await clicks.open("/people")
        shown = await main_text(clicks.page)
    assert (seen.status, acted.status, said["detail"]) == (
        200,
        403,
        "This needs the role operator; token dashboard has viewer.",
    )
    assert secret not in shown
    assert clicks.count == 1


async def test_a_viewer_is_told_who_may_act(system: System, way: Way) -> None:
    """No button is shown to a viewer, and a form that was open since before is refused in words."""
    await system.actions.people.redeem(await system.actions.people.first_link("test"), "anna", "herring on the quay")
    invited = await system.actions.people.invite("ben", Role.OPERATOR, "anna")
    async with at_work(system, way) as clicks:
        await choose_a_password(clicks.page, clicks.address, invited, None)
        await clicks.open("/dead-letters")
        await system.actions.people.change_role("ben", Role.VIEWER, "anna")
        await clicks.press("text=Try again")
        assert await clicks.page.title() != "Dead letters · Tidemill"
    assert (await system.actions.dead_letters.find(1)).letter.status == "pending"


async def test_where_a_field_was_read_is_found(shop: Market, way: Way) -> None:
    async with at_work(shop.system, way) as clicks:
        await clicks.open("/sources/acme")
        await clicks.press("#pages ~ ul a")
        assert "in the page's data" in await main_text(clicks.page)
        row = "details[open] tr:has(th:text-is('price'))"
        value = await clicks.page.text_content(f"{row} td") or ""
        await clicks.press(f"{row} a")
        await clicks.page.frame_locator("iframe").locator("pre .tm-mark", has_text=value.strip()).first.wait_for()
    assert clicks.count == 2


async def test_a_file_of_events_is_taken_away(system: System, way: Way) -> None:
    async with at_work(system, way) as clicks:
        await clicks.open("/exports")
        await clicks.page.select_option("form[action='/api/v1/exports/events'] select[name=format]", "csv")
        async with clicks.page.expect_download() as taken:
            await clicks.press("form[action='/api/v1/exports/events'] button", stays=True)
        text = (await (await taken.value).path()).read_text()
    assert "Jazz" in text
    assert clicks.count == 1


async def test_somebody_is_told_of_changes(system: System, way: Way) -> None:
    async with at_work(system, way) as clicks:
        await clicks.open("/webhooks")
        await clicks.write("form[action='/webhooks'] input[name=name]", "pager")
        await clicks.write("form[action='/webhooks'] input[name=url]", "https://pager.example/in")
        await clicks.press("form[action='/webhooks'] button")
        assert "shown once" in await clicks.said()
        await clicks.open("/work")
    assert [each.name for each in await system.actions.webhooks.every()] == ["pager"]
    assert clicks.count == 1


async def test_an_adapter_is_tried_on_stored_pages(shop: Market, way: Way) -> None:
    async with at_work(shop.system, way) as clicks:
        await clicks.open("/adapters")
        await clicks.press("tr:has(a:has-text('prices.generic')) form[action$='/try'] button")
        assert "2 of 3 stored pages went well" in await clicks.said()
    assert clicks.count == 1


async def test_two_workers_are_seen_at_work(system: System, way: Way, clock: SettableClock) -> None:
    second = build(system.settings, clock=clock)
    await second.worker.sign_in()
    async with at_work(system, way) as clicks:
        await clicks.open("/system")
        workers = await clicks.page.locator("section[aria-labelledby=workers] tbody tr").count()
    await second.close()
    assert workers == 2
