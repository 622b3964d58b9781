"""Every screen of the portal in a real browser: reached by everybody, breaks no policy, fits a telephone."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser as Chromium
from playwright.async_api import Page, Request, async_playwright

from integration.web.conftest import browsing
from rig.town import Town, a_town

from .test_portal import FLAGS
from .test_portal_tasks import HOSTILE, agenda

pytestmark = pytest.mark.shows("A2")

AXE = Path(__file__).parents[2] / "build" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
ENVIRONMENT = os.environ  # noqa: TID251 - tests have no settings module; only this line reads the environment
SCREENS = (
    "/", "/work", "/sources", "/sources/Town%20hall", "/add-source", "/import-targets", "/targets", "/runs",
    "/runs/{run}", "/pages", "/pages/{page}", "/pages/{page}/pick?element=5&field=title", "/dead-letters",
    "/quarantine", "/proposals", "/alerts",
    "/candidates", "/incidents", "/breakers", "/adapters", "/ticks", "/exports", "/webhooks", "/system", "/settings",
    "/people", "/audit", "/api-guide", "/account", "/sources?text=nowhere", "/nowhere",
    "/events", "/homes", "/markets", "/markets/nyc", "/products", "/price-review", "/matches", "/replays",
    "/why?subject=source:Town%20hall", "/targets/{target}", "/adapters/events.generic",
)  # fmt: skip
LARGEST_FIRST_PAGE = 100_000


@pytest.fixture
async def town(migrated_sqlite_url: str, tmp_path: Path) -> AsyncIterator[Town]:
    async with a_town(migrated_sqlite_url, tmp_path) as town:
        town.site.page("/agenda", agenda(("Jazz night", "De Zaal"), ("Film night", "Cinema"), ("Dance", HOSTILE)))
        await town.add_source("Town hall", tags=["north"])
        await town.add_source("Empty hall", path="/nothing")
        await town.scrape()
        yield town


async def screens_of(town: Town) -> list[str]:
    page = next(each for each in await town.system.store.views.pages() if each.source_name == "Town hall")
    (run, *_) = await town.system.store.views.runs()
    (target, *_) = await town.system.store.views.targets()
    return [path.format(page=page.id, run=run.id, target=target.id) for path in SCREENS]


async def opened(program: Chromium, *, dark: bool, width: int) -> tuple[Page, list[str]]:
    context = await program.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    page = await context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    return page, said


@pytest.fixture
def axe() -> str:
    if not AXE.is_file():
        if ENVIRONMENT.get("CI", "").lower() in {"1", "true"}:
            pytest.fail("axe-core is missing: `make axe`")
        pytest.skip("axe-core is missing: `make axe`")
    return AXE.read_text()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_no_screen_has_a_serious_finding_of_axe(chromium: str, town: Town, axe: str, *, dark: bool) -> None:
    serious: dict[str, list[str]] = {}
    async with async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page, _ = await opened(program, dark=dark, width=1280)
        async for browser in browsing(town.system):
            for path in await screens_of(town):
                answer = await page.goto(browser.address + path)
                assert answer is not None
                assert answer.status == (404 if path == "/nowhere" else 200), path
                await page.evaluate(axe)
                found = await page.evaluate("async () => (await axe.run()).violations")
                bad = [
                    f"{each['id']}: {each['nodes'][0]['html'][:120]}"
                    for each in found
                    if each["impact"] in {"serious", "critical"}
                ]
                if bad:
                    serious[path] = bad
        await program.close()
    assert serious == {}


async def test_no_screen_breaks_its_policy_or_is_wider_than_a_telephone(chromium: str, town: Town) -> None:
    wide: dict[str, int] = {}
    async with async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page, said = await opened(program, dark=False, width=390)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        async for browser in browsing(town.system):
            for path in await screens_of(town):
                await page.goto(browser.address + path)
                width = await page.evaluate("document.documentElement.scrollWidth")
                if width > 390:
                    wide[path] = width
            elsewhere = [url for url in asked if not url.startswith((browser.address, "data:"))]
        await program.close()
    assert wide == {}
    assert elsewhere == []
    assert [words for words in said if "404" not in words and "Not Found" not in words] == []


async def test_the_first_page_is_light(chromium: str, town: Town) -> None:
    async with async_playwright() as driver:
        program = await driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page, _ = await opened(program, dark=False, width=1280)
        sizes: list[int] = []
        taken: list[Request] = []

        def keep(request: Request) -> None:
            taken.append(request)

        page.on("requestfinished", keep)
        async for browser in browsing(town.system):
            await page.goto(browser.address + "/", wait_until="networkidle")
            sizes = [(await each.sizes())["responseBodySize"] for each in taken]
        await program.close()
    assert 0 < sum(sizes) < LARGEST_FIRST_PAGE, sizes
