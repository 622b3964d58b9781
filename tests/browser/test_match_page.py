"""The page of a match in a real browser: it moves, grows old, loses its server and finds it again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from integration.web.conftest import deps_of
from rig.clock import LaterClock
from rig.match_states import match_state
from rig.streamed import TallyWriter
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import web_extensions
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade
from tidemill.web.app import create_app
from tidemill.web.serve import serve

from .test_portal import FLAGS, HOSTILE

PATIENCE = 30_000


@asynccontextmanager
async def serving(system: System, port: int = 0) -> AsyncIterator[str]:
    """The app, on a port that can be taken again."""
    deps = deps_of(system)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = create_app(deps, web_extensions(system, deps))
    stopping = deps.streams.hub.close_soon
    task = asyncio.create_task(serve(app, "127.0.0.1", port, ready=ready.set_result, stopping=stopping))
    yield await ready
    task.cancel()
    await asyncio.wait([task])
    await deps.streams.hub.close()


@asynccontextmanager
async def opened(chromium: str, *, scripts: bool = True) -> AsyncIterator[Page]:
    async with async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        context = await program.new_context(java_script_enabled=scripts)
        page = await context.new_page()
        page.set_default_timeout(PATIENCE)
        yield page
        await program.close()


async def shows(page: Page, name: str, text: str) -> None:
    """Wait until a part of the page says so."""
    await page.locator(f"[data-shows={name}]", has_text=text).wait_for(state="attached")


@pytest.fixture
def later() -> LaterClock:
    return LaterClock()


@pytest.fixture
async def system(sqlite_url: str, later: LaterClock) -> AsyncIterator[System]:
    built = build(load_settings(database=sqlite_url), clock=later)
    await upgrade(built.store.database)
    yield built
    await built.close()


@pytest.mark.shows("M5", "X8")
async def test_the_page_moves_grows_stale_and_heals(chromium: str, system: System, later: LaterClock) -> None:
    writer = TallyWriter(system.store.database, system.store.change_log, "matches")
    refused: list[str] = []
    async with opened(chromium) as page:
        page.on("console", lambda message: refused.append(message.text) if "Policy" in message.text else None)
        await writer.write("m1", match_state(5), later.now())
        async with serving(system) as address:
            await page.goto(f"{address}/matches/m1")
            await shows(page, "innings", "5/0")
            await writer.write("m1", match_state(6), later.now())
            await shows(page, "innings", "6/1")
            await shows(page, "balls", "W bowled")
            await shows(page, "state", "live")
            later.ahead = timedelta(seconds=60)
            await shows(page, "state", "stale")
            await writer.write("m1", match_state(7), later.now())
            await shows(page, "innings", "7/1")
            await shows(page, "state", "live")
        await shows(page, "state", "disconnected")
        await writer.write("m1", match_state(8), later.now())
        async with serving(system, int(address.rpartition(":")[2])):
            await shows(page, "innings", "8/1")
            await shows(page, "state", "live")
    assert refused == []


async def test_nothing_scraped_becomes_markup_while_the_page_moves(
    chromium: str, system: System, later: LaterClock
) -> None:
    writer = TallyWriter(system.store.database, system.store.change_log, "matches")
    await writer.write("m1", match_state(1, HOSTILE[0]), later.now())
    async with opened(chromium) as page, serving(system) as address:
        await page.goto(f"{address}/matches/m1")
        hostile = match_state(2, HOSTILE[1], teams={"team_a": {"name": HOSTILE[2]}, "team_b": {"name": HOSTILE[3]}})
        hostile["balls"]["1.0.1"] = {"runs": 1, "extra": HOSTILE[1], "wicket": HOSTILE[2]}
        await writer.write("m1", hostile, later.now())
        await shows(page, "seq", "2")
        assert await page.text_content("h1") == HOSTILE[1]
        assert HOSTILE[2] in str(await page.text_content("[data-shows=innings]"))
        assert await page.locator("main img, main svg, main script").count() == 0
        assert await page.title() == f"{HOSTILE[0]} · Tidemill"


async def test_without_scripts_the_page_is_whole_and_says_of_when_it_is(
    chromium: str, system: System, later: LaterClock, tmp_path: Path
) -> None:
    writer = TallyWriter(system.store.database, system.store.change_log, "matches")
    await writer.write("m1", match_state(6), later.now())
    async with opened(chromium, scripts=False) as page, serving(system) as address:
        await page.goto(f"{address}/matches/m1")
        await page.screenshot(path=tmp_path / "match.png", full_page=True)
        await shows(page, "innings", "6/1")
        assert "load it again" in str(await page.text_content("noscript"))
