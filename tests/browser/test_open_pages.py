"""Pages that stay open in a real browser: read again and again, and loaded once."""

import asyncio
import os
import re
import signal
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from rig.chromium import Browsing, browsing
from rig.engines import until
from tidemill.core.failure import Failure
from tidemill.core.health.contexts import NO_USAGE
from tidemill.core.services.recycling import PoolLimits
from tidemill.lab.loopback import ONLY_ADDRESS
from tidemill.pipeline.ports import OpenPage

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.inventory(60)]

SHOWN = re.compile(rb'id="score">score (\d+)<')
PAGE = """<!DOCTYPE html><html lang="en"><body><h1>Board</h1><p id="score">none yet</p>
<script>
const ask = () => fetch("/score.json").then(a => a.ok ? a.json() : Promise.reject(a.status)).then(data => {
  document.getElementById("score").textContent = `score ${data.score}`;
  if (data.more) setTimeout(ask, 50);
}).catch(() => setTimeout(ask, 50));
ask();
</script></body></html>"""


class Board:
    """A page whose script asks for the score; each answer is one more than the last."""

    def __init__(self) -> None:
        self.pages = self.scores = 0
        self.status = 200
        self.more = True
        self.origin = ""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        if request.path == "/score.json":
            self.scores += 1
            return web.json_response({"score": self.scores, "more": self.more}, status=self.status)
        self.pages += 1
        return web.Response(text=PAGE, content_type="text/html")


@asynccontextmanager
async def served():
    board = Board()
    runner = web.ServerRunner(web.Server(board.answer, access_log=None), shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, ONLY_ADDRESS, 0)
    await site.start()
    board.origin = f"http://{ONLY_ADDRESS}:{runner.addresses[0][1]}"
    try:
        yield board
    finally:
        await runner.cleanup()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(chromium: str):
    async with browsing(chromium) as own:
        yield own


@pytest_asyncio.fixture(loop_scope="module")
async def board():
    async with served() as own:
        yield own


class Reader:
    """Reads the board's page, kept open under a name of its own."""

    def __init__(self, browser: Browsing, board: Board, name: str) -> None:
        self.browser, self.board, self.name = browser, board, name

    async def read(self, generation: int = 0) -> Any:
        page = OpenPage(self.name, generation)
        return await self.browser.get(f"{self.board.origin}/board", "#score", keep_open=page)

    @property
    def tab(self) -> Any:
        return self.browser.pool._open_pages[self.name].tab


def score_in(result: Any) -> int:
    assert result.failure is None, result
    found = SHOWN.search(result.body)
    assert found, result.body
    return int(found[1])


async def first_score(reader: Reader) -> int:
    """The number on the page once its script has drawn one."""
    result = await reader.read()
    while not SHOWN.search(result.body):
        result = await reader.read()
    return score_in(result)


async def test_an_open_page_is_loaded_once_and_shows_what_its_script_asked_since(browser: Browsing, board: Board):
    reader = Reader(browser, board, "loaded once")
    before = await first_score(reader)
    for _ in range(3):
        now = score_in(await reader.read())
        assert now > before
        before = now
    assert board.pages == 1


async def test_between_readings_the_page_asks_its_site_for_nothing(browser: Browsing, board: Board):
    reader = Reader(browser, board, "held")
    await first_score(reader)
    assert await reader.tab._own_requests.asked_within(20)
    asked = board.scores
    await asyncio.wait_for(browser.get(f"{board.origin}/other", "#score"), 20)  # time passes, as another page is read
    assert await reader.tab._own_requests.asked_within(0)
    others = board.scores
    assert score_in(await reader.read()) >= asked
    assert board.scores > others


async def test_a_page_that_asks_no_more_is_loaded_again(browser: Browsing, board: Board):
    reader = Reader(browser, board, "silent")
    await first_score(reader)
    board.more = False
    pages = board.pages
    for _ in range(3):
        await reader.read()
    assert board.pages > pages


async def test_a_page_whose_site_answers_errors_is_loaded_again(browser: Browsing, board: Board):
    reader = Reader(browser, board, "errors")
    await first_score(reader)
    pages, board.status = board.pages, 503
    await reader.read()
    assert board.pages == pages + 1


async def test_another_generation_opens_the_page_anew(browser: Browsing, board: Board):
    reader = Reader(browser, board, "generations")
    await first_score(reader)
    old = reader.tab
    await reader.read(generation=1)
    assert reader.tab is not old
    assert board.pages == 2


async def test_the_death_of_the_browser_costs_one_reading(chromium: str):
    limits = PoolLimits(check_every=PoolLimits().check_every / 20)
    async with browsing(chromium, limits=limits) as own, served() as board:
        reader = Reader(own, board, "killed")
        await first_score(reader)

        async def is_metered() -> bool:
            return own.fetcher.usage.memory_bytes > 10_000_000

        await until(is_metered, "the browser's memory is known")
        assert own.fetcher.usage.browser_pid == reader.tab.chromium.pid
        assert own.fetcher.usage != NO_USAGE
        os.kill(reader.tab.chromium.pid, signal.SIGKILL)
        results = [await reader.read() for _ in range(2)]
        assert results[-1].failure is None or results[0].failure is Failure.BROWSER_LOST
        assert score_in(await reader.read()) > 0
