"""An operator's tasks in a real browser, each with the mouse and with the keyboard alone, with scripts and without."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from integration.web.conftest import browsing
from rig.rows import a_job, a_letter, put
from rig.town import Town, a_town
from tidemill.store.schema import breakers, dead_letters, jobs

from .test_portal import FLAGS

pytestmark = pytest.mark.shows("A2")

PLAIN = """<html><head><title>Agenda</title></head><body><h1>Agenda</h1><ul>{}</ul></body></html>"""
EVENT = (
    '<li class="event"><h3><a href="/{0}">{1}</a></h3> <time datetime="2026-04-0{2}T20:00">{2} april, 20:00</time> '
    '<span class="zaal">{3}</span></li>'
)
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><iframe src='/'></iframe>"
)


def agenda(*events: tuple[str, str], extra: str = "") -> str:
    listed = "".join(EVENT.format(number, title, number + 1, place) for number, (title, place) in enumerate(events))
    return PLAIN.format(listed + extra)


class Clicks:
    """A page on which everything is reached by the keyboard or by the mouse, and counted."""

    def __init__(self, page: Page, address: str, *, keyboard: bool) -> None:
        self.page = page
        self.address = address
        self.count = 0
        self._keyboard = keyboard

    async def open(self, path: str) -> None:
        await self.page.goto(self.address + path)

    async def press(self, selector: str, *, stays: bool = False) -> None:
        """Press a button or follow a link; with `stays` another page is not waited for."""
        self.count += 1
        target = self.page.locator(selector).first
        if self._keyboard:
            await target.focus()
            assert await target.evaluate("each => each === document.activeElement"), f"{selector} takes no focus"
            key = (
                "Space"
                if await target.evaluate("each => each.type === 'checkbox' || each.type === 'radio'")
                else "Enter"
            )
            leads_on = not stays and await target.evaluate("each => each.matches('a[href]:not([target]), button')")
            if leads_on:
                async with self.page.expect_navigation():
                    await self.page.keyboard.press(key)
            else:
                await self.page.keyboard.press(key)
        else:
            await target.click()
        await self.page.wait_for_load_state()

    async def write(self, selector: str, text: str) -> None:
        await self.page.fill(selector, text)

    async def said(self) -> str:
        return (await self.page.text_content("[role=status], [role=alert]")) or ""


@pytest.fixture(params=[(True, False), (True, True), (False, False)], ids=["mouse", "keyboard", "no scripts"])
async def at_work(
    request: pytest.FixtureRequest, chromium: str, migrated_sqlite_url: str, tmp_path: Path
) -> AsyncIterator[tuple[Town, Clicks]]:
    scripts, keyboard = request.param
    async with a_town(migrated_sqlite_url, tmp_path) as town, async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        context = await program.new_context(java_script_enabled=scripts, viewport={"width": 1280, "height": 900})
        page = await context.new_page()
        async for browser in browsing(town.system):
            yield town, Clicks(page, browser.address, keyboard=keyboard)
        await program.close()


async def test_a_source_is_added_from_a_pasted_address(at_work: tuple[Town, Clicks]) -> None:
    town, clicks = at_work
    town.site.page("/agenda", agenda(("Jazz night", "De Zaal"), ("Film night", "Cinema"), ("Dance night", "Hal")))
    await clicks.open("/work")
    await clicks.press("text=Add a source")
    await clicks.write("form[action='/try-source'] input[name=url]", f"{town.site.origin}/agenda")
    await clicks.write("form[action='/try-source'] input[name=city]", "Arnhem")
    await clicks.press("text=Look at it")
    assert "3 events" in await clicks.said()
    assert "Jazz night" in (await clicks.page.text_content("main") or "")
    await clicks.write("form[action='/add-source'] input[name=name]", "Town hall")
    await clicks.press("form[action='/add-source'] button")
    await clicks.page.wait_for_url("**/sources/**")
    assert "saved" in await clicks.said()
    await town.scrape()
    assert len(await town.events()) == 3
    assert clicks.count == 3


async def test_a_wrong_field_is_mended_by_clicking_the_value_on_the_stored_page(at_work: tuple[Town, Clicks]) -> None:
    town, clicks = at_work
    events = (("Jazz night", "De Zaal"), ("Film night", "Cinema"), ("Dance night", "Hal"))
    town.site.page("/agenda", agenda(*events, extra=f"<li>{HOSTILE}</li>"))
    await town.add_source("Town hall")
    await town.scrape()
    await clicks.open("/sources/Town%20hall")
    await clicks.press("#pages ~ ul a")
    frame = clicks.page.frame_locator("iframe")
    await frame.locator(".tm-mark").first.wait_for()
    assert await frame.locator(".tm-mark").count() >= 3
    assert await frame.locator("script, img, iframe").count() == 0
    value = frame.locator("a", has_text="Cinema")
    clicks.count += 1
    if clicks._keyboard:
        await value.focus()
        await clicks.page.keyboard.press("Enter")
    else:
        await value.click()
    await clicks.page.wait_for_url("**/pick?**")
    await clicks.write("input[name=field]", "place")
    await clicks.press("text=Try it on the last five pages")
    trial = await clicks.page.text_content("#trial ~ div") or ""
    assert "De Zaal · Cinema · Hal" in trial
    await clicks.press("text=Save as settings")
    assert "once the last stored pages were read so" in await clicks.said()
    await town.system.ticks.chores["gate_changes"].run()
    source = await town.system.actions.sources.find("Town hall")
    assert source.adapter_settings["selectors"] == {"place": "span.zaal", "item": "li.event"}
    assert await clicks.page.title() == "Town hall · Tidemill", "nothing of the stored page ran"
    assert clicks.count == 4


async def test_many_dead_letters_of_a_source_are_tried_again(at_work: tuple[Town, Clicks]) -> None:
    town, clicks = at_work
    town.site.page("/agenda", agenda(("Jazz night", "De Zaal")))
    await town.add_source("Town hall")
    source = await town.system.actions.sources.find("Town hall")
    (target,) = await town.system.store.views.targets()
    await put(town.system.store.database, jobs, *(
        a_job(key, source_id=source.id, target_id=target.id, status="dead", current_stage="dead_letter", run_id=1)
        for key in range(1, 11)
    ))  # fmt: skip
    await put(town.system.store.database, dead_letters, *(
        a_letter(key, source_id=source.id, target_id=target.id, payload={"host": "127.0.0.1"}) for key in range(1, 11)
    ))  # fmt: skip
    await clicks.open("/sources/Town%20hall")
    await clicks.press("text=Try dead letters again")
    assert await clicks.said() == "10 dead letters are being tried again."
    assert clicks.count == 1


async def test_a_schedule_is_changed_and_a_source_paused_and_found_again(at_work: tuple[Town, Clicks]) -> None:
    town, clicks = at_work
    town.site.page("/agenda", agenda(("Jazz night", "De Zaal")))
    await town.add_source("Town hall")
    await clicks.open("/sources")
    await clicks.press("text=Town hall")
    await clicks.write("input[name=schedule]", "every 3h")
    await clicks.press(".inline button")
    assert "every 3h" in await clicks.said()
    await clicks.write("input[name=schedule]", "whenever")
    await clicks.press(".inline button")
    assert "whenever" in (await clicks.page.text_content("main") or "")
    await clicks.open("/sources?text=town")
    await clicks.press("input[name=key]")
    await clicks.press("button[value=disable]")
    assert "Town hall" in (await clicks.page.text_content("main") or "")
    await clicks.press("button.danger")
    assert "1 source paused" in await clicks.said()
    assert not (await town.system.actions.sources.find("Town hall")).enabled


async def test_why_nothing_came_is_told_and_a_breaker_closed_from_todays_work(at_work: tuple[Town, Clicks]) -> None:
    town, clicks = at_work
    await town.add_source("Town hall")
    source = await town.system.actions.sources.find("Town hall")
    row = {"source_id": source.id, "state": "OPEN", "failure_count": 5, "consecutive_opens": 1}
    now = town.clock.now()
    await put(town.system.store.database, breakers, row | {"cooldown_until": now.replace(hour=23), "changed_at": now})
    await clicks.open("/sources/Town%20hall")
    assert "breaker" in (await clicks.page.text_content(".verdict, .steps") or "").lower()
    await clicks.open("/work")
    await clicks.press("text=Close it")
    assert "is closed" in await clicks.said()
    assert clicks.count == 1
