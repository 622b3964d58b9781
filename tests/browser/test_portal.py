"""The pages in a real browser: whatever was scraped, nothing of it runs."""

import asyncio
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from integration.web.conftest import browsing
from integration.web.world import furnish
from rig.clock import SettableClock
from tidemill.bootstrap.system import build
from tidemill.settings import load_settings
from tidemill.store.database.migrate import upgrade

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip
OWNED = "document.title='owned'"
HOSTILE = (
    f"<script>{OWNED}</script>",
    f'"><img src=x onerror="{OWNED}">',
    f"<svg onload={OWNED}>",
    f"</title></head><body onload={OWNED}>",
)


async def seen(chromium: str, address: str, profile: Path) -> LexborHTMLParser:
    """The page as it stands after the browser has done all it wanted with it."""
    process = await asyncio.create_subprocess_exec(
        chromium, *FLAGS, f"--user-data-dir={profile}", "--dump-dom", address,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    page, _ = await process.communicate()
    return LexborHTMLParser(page.decode())


@pytest.mark.shows("A4")
async def test_nothing_scraped_runs_in_a_browser(
    chromium: str, sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    system = build(load_settings(database=sqlite_url), clock=clock)
    await upgrade(system.store.database)
    await furnish(system, titles=HOSTILE, name=HOSTILE[0])
    async for browser in browsing(system):
        page = await seen(chromium, f"{browser.address}/events", tmp_path / "profile")
    await system.close()
    assert page.css_first("title").text() == "Events · Tidemill"
    assert [title.text() for title in page.css("h3 a")] == list(HOSTILE)
