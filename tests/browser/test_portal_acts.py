"""An operator at work in a real browser: signs in, tries a dead letter again, is refused what a viewer may not."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, async_playwright

from integration.web.conftest import browsing
from integration.web.world import furnish
from rig.clock import SettableClock
from tidemill.bootstrap.system import System, build
from tidemill.core.access.roles import Role
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

from .test_portal import FLAGS, HOSTILE

SENTENCE = "herring on the quay"


@pytest.fixture
async def system(sqlite_url: str, clock: SettableClock) -> AsyncIterator[System]:
    built = build(load_settings(database=sqlite_url), clock=clock)
    await upgrade(built.store.database)
    await furnish(built, name=HOSTILE[0])
    yield built
    await built.close()


async def choose_a_password(page: Page, address: str, link: str, name: str | None) -> None:
    await page.goto(f"{address}/welcome?link={link}")
    if name:
        await page.fill("input[name=name]", name)
    await page.fill("input[name=password]", SENTENCE)
    await page.fill("input[name=again]", SENTENCE)
    await page.click("main button")


@pytest.mark.shows("A2", "A4")
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
async def test_an_operator_signs_in_and_tries_a_dead_letter_again(
    chromium: str, system: System, *, scripts: bool
) -> None:
    async with async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        context = await program.new_context(java_script_enabled=scripts)
        page = await context.new_page()
        async for browser in browsing(system):
            link = await system.actions.people.first_link("test")
            await choose_a_password(page, browser.address, link, "anna")
            await page.goto(f"{browser.address}/work")
            await page.click("main >> text=Dead letters")
            await page.click("text=Try again")
            notice = await page.text_content("[role=status]")
            title = await page.title()
        await program.close()
    assert notice == "Dead letter 1 is being tried again."
    assert title == "Dead letters · Tidemill"
    assert (await system.actions.dead_letters.find(1)).letter.status == "retrying"
    (entry,) = [each.entry for each in await system.store.audit.latest() if each.entry.action == "dlq.retry"]
    assert entry.actor == "anna"


@pytest.mark.shows("A4")
async def test_a_viewer_gets_no_buttons(chromium: str, system: System) -> None:
    link = await system.actions.people.first_link("test")
    await system.actions.people.redeem(link, "anna", SENTENCE)
    invited = await system.actions.people.invite("ben", Role.VIEWER, "anna")
    async with async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = await program.new_page()
        async for browser in browsing(system):
            await choose_a_password(page, browser.address, invited, None)
            await page.goto(f"{browser.address}/dead-letters")
            buttons = await page.locator("table form").count()
            await page.goto(f"{browser.address}/people")
            refused = await page.text_content("h1")
        await program.close()
    assert buttons == 0
    assert refused == "This needs the role admin; ben has viewer."
