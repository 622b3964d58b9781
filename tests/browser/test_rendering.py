"""Pages in a real browser: as their scripts make them, behind the same gates as any other page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from aiohttp.abc import AbstractResolver, ResolveResult

from integration.fetching.conftest import Served
from rig.chromium import Browsing, browsing
from rig.site import Site, a_site
from tidemill.core.failure import Failure
from tidemill.core.gates import Gate, GateAnswer, refuse
from tidemill.core.pacing import Pace
from tidemill.core.services.recycling import PoolLimits
from tidemill.lab.scripted import ScriptedSite
from tidemill.pipeline.ports import FetchStatus

pytestmark = [pytest.mark.shows("F2"), pytest.mark.asyncio(loop_scope="module")]

WHOLE = "#agenda article"
LONG = "<p>" + "Dit is een gewone pagina met genoeg tekst om te lezen. " * 4 + "</p>"
JPEG = b"\xff\xd8\xff"


class NobodyKnows(AbstractResolver):
    """A name server that knows no name."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        raise OSError(None, f"{host}:{port} is not known, whatever the family ({family})")

    async def close(self) -> None:
        pass


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(chromium: str):
    async with browsing(chromium, dns=NobodyKnows()) as own:
        yield own


@pytest_asyncio.fixture(loop_scope="module")
async def site():
    async with a_site() as own:
        yield own


async def test_a_page_is_read_as_its_scripts_have_made_it(browser: Browsing):
    async with ScriptedSite() as site:
        result = await browser.get(f"{site.origin}/agenda/3", WHOLE)
        assert (result.status, result.status_code, result.fetcher) == (FetchStatus.OK, 200, "browser")
        assert b"<h2>Concert nummer 3</h2>" in result.body
        assert result.content_type == "text/html; charset=utf-8"
        assert result.body.startswith(b"<!DOCTYPE html>")


async def test_without_a_selector_the_network_is_waited_for(browser: Browsing):
    async with ScriptedSite() as site:
        assert b"Concert nummer 4" in (await browser.get(f"{site.origin}/agenda/4")).body


async def test_a_selector_that_is_none_costs_nothing_but_the_wait_for_the_network(browser: Browsing):
    async with ScriptedSite() as site:
        assert b"Concert nummer 5" in (await browser.get(f"{site.origin}/agenda/5", "##[")).body


async def test_pictures_fonts_films_and_trackers_are_never_asked_for(browser: Browsing):
    async with ScriptedSite() as site:
        await browser.get(f"{site.origin}/agenda/0")
        assert site.asked == ["/robots.txt", "/agenda/0", "/app.js", "/api/agenda/0.json"]


async def test_every_redirect_is_judged_by_robots_as_it_comes(browser: Browsing, site: Site):
    site.page("/robots.txt", "User-agent: *\nDisallow: /secret\n", "text/plain")
    site.says("/moved", b"HTTP/1.1 302 Found\r\nLocation: /secret\r\nContent-Length: 0\r\n\r\n")
    site.page("/scripted", "<script>location.href = '/secret'</script>")
    site.page("/refreshed", "<meta http-equiv=refresh content='0; url=/secret'>")
    for path in ("/secret", "/moved", "/scripted", "/refreshed"):
        result = await browser.get(site.origin + path)
        assert (result.status, result.failure) == (FetchStatus.ROBOTS_BLOCKED, Failure.ROBOTS_DISALLOWED), path
    assert site.visits("/secret") == 0
    assert site.visits("/robots.txt") == 1


async def test_redirects_by_server_and_script_lead_to_the_page_with_its_cookie(browser: Browsing, site: Site):
    site.says(
        "/moved", b"HTTP/1.1 302 Found\r\nSet-Cookie: seen=yes\r\nLocation: /scripted\r\nContent-Length: 0\r\n\r\n"
    )
    site.page("/scripted", "<script>location.replace('/page')</script>")
    site.page("/page", f"{LONG}<script>document.body.append(document.cookie)</script>")
    result = await browser.get(f"{site.origin}/moved")
    assert result.final_url == f"{site.origin}/page"
    assert b"seen=yes" in result.body
    assert result.requests == 4


async def test_a_second_visit_knows_nothing_of_the_first(browser: Browsing, site: Site):
    remember = "document.cookie = 'a=1'; localStorage.setItem('b', '2')"
    told = "document.body.append(`[${document.cookie}${localStorage.getItem('b')}]`)"
    site.page("/page", f"<body>{LONG}<script>{told}; {remember}</script>")
    for _ in range(3):
        assert b"[null]" in (await browser.get(f"{site.origin}/page")).body


async def test_what_is_no_page_comes_as_it_is(browser: Browsing, site: Site):
    site.page("/data", '{"events": []}', "application/json")
    result = await browser.get(f"{site.origin}/data")
    assert (result.body, result.content_type) == (b'{"events": []}', "application/json")


async def test_a_refusal_comes_with_a_picture_of_it(browser: Browsing, site: Site):
    site.says(
        "/no",
        b"HTTP/1.1 403 No\r\nContent-Type: text/html\r\nRetry-After: 30\r\nContent-Length: 11\r\n\r\n<h1>No</h1>",
    )
    result = await browser.get(f"{site.origin}/no")
    assert (result.status, result.failure, result.status_code) == (FetchStatus.BLOCKED, Failure.FORBIDDEN, 403)
    assert result.screenshot.startswith(JPEG)
    assert b"<h1>No</h1>" in result.body
    assert result.retry_after is not None


async def test_a_captcha_with_status_200_comes_with_a_picture_too(browser: Browsing, site: Site):
    site.page("/gate", "<body><h1>Are you a robot?</h1><div class=g-recaptcha></div></body>")
    assert (await browser.get(f"{site.origin}/gate")).screenshot.startswith(JPEG)


async def test_a_page_larger_than_the_cap_is_cut(browser: Browsing, site: Site):
    site.page("/long", LONG * 200)
    site.page("/grows", f"<body>{LONG}<script>document.body.append('x'.repeat(50000))</script>")
    for path in ("/long", "/grows"):
        result = await browser.get(site.origin + path, max_bytes=20_000)
        assert (result.status, result.failure) == (FetchStatus.TOO_LARGE, Failure.TOO_LARGE), path
        assert len(result.body) <= 20_000


async def test_all_that_a_page_loads_has_a_limit(browser: Browsing, site: Site):
    site.page("/heavy", f"<body>{LONG}<script>fetch('/ballast').then(a => a.text()).then(() => 0)</script>")
    site.page("/ballast", "x" * 200_000, "text/plain")
    result = await browser.get(f"{site.origin}/heavy", max_bytes=20_000)
    assert result.failure is Failure.TOO_LARGE


async def test_a_server_that_never_answers_is_a_time_out(browser: Browsing, site: Site):
    site.page("/late", LONG)
    gate = site.hold("/late")
    result = await browser.get(f"{site.origin}/late", seconds=1, obey_robots=False)
    assert (result.status, result.failure) == (FetchStatus.TIMEOUT, Failure.TIMED_OUT)
    gate.opened.set()


async def test_a_server_that_is_not_there_is_a_lost_connection(browser: Browsing):
    async with a_site() as gone:
        pass
    result = await browser.get(f"{gone.origin}/", obey_robots=False)
    assert result.failure is Failure.CONNECTION_LOST


async def test_a_name_that_nobody_knows_is_a_failure_of_dns(browser: Browsing):
    result = await browser.get("http://nowhere.invalid/", obey_robots=False)
    assert result.failure is Failure.DNS_FAILED


async def test_the_gates_are_asked_again_as_the_request_leaves(browser: Browsing, site: Site):
    async def against() -> GateAnswer:
        return refuse(Gate.SOURCE, "switched off", Failure.SOURCE_OFF)

    site.page("/page", LONG)
    slowly: dict[str, Any] = {"pace": Pace(timedelta(milliseconds=500)), "host": "slow", "obey_robots": False}
    assert (await browser.get(f"{site.origin}/page", "p", **slowly)).failure is None
    result = await browser.get(f"{site.origin}/page", "p", **slowly, recheck=against)
    assert result.failure is Failure.SOURCE_OFF
    assert site.visits("/page") == 1


@asynccontextmanager
async def listening(answers: dict[str, bytes]) -> AsyncIterator[Served]:
    served = Served("127.0.0.1", answers)
    server = await asyncio.start_server(served.handle, served.host, 0)
    served.port = server.sockets[0].getsockname()[1]
    yield served
    server.close()


async def test_a_sources_own_headers_are_for_its_page_alone(browser: Browsing):
    async with listening({"/x.js": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}) as other:
        page = f"<body>{LONG}<script src='{other.origin}/x.js'></script>".encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)
        async with listening({"/": head + page}) as own:
            await browser.get(f"{own.origin}/", headers={"X-Key": "secret"}, obey_robots=False)
        assert b"X-Key: secret" in own.heads[0]
        assert [b"X-Key" in each for each in other.heads] == [False]


async def test_many_pages_at_once_stay_within_the_limits_of_the_pool(chromium: str):
    async with ScriptedSite(12) as site, browsing(chromium, limits=PoolLimits(contexts=3, per_host=2)) as browser:
        results = await asyncio.gather(*(browser.get(site.origin + path, WHOLE) for path in site.paths))
        assert {result.status for result in results} == {FetchStatus.OK}
        state = browser.pool.state()
        assert (state.in_use, state.waiting) == ({}, 0)
        assert 1 <= state.at_rest <= 2


async def test_what_a_page_asks_for_by_itself_counts_and_the_next_page_waits_for_it(browser: Browsing):
    terms: dict[str, Any] = {"pace": Pace(timedelta(milliseconds=200)), "host": "counted", "obey_robots": False}
    told: list[GateAnswer] = []
    async with ScriptedSite() as site:
        first = await browser.get(f"{site.origin}/agenda/1", WHOLE, **terms, on_gate_answer=told.append)
        second = await browser.get(f"{site.origin}/agenda/2", WHOLE, **terms)
        assert site.asked[:3] == ["/agenda/1", "/app.js", "/api/agenda/1.json"]
    assert first.requests == 3
    assert first.requested_at is not None
    assert second.requested_at is not None
    assert second.requested_at - first.requested_at >= timedelta(milliseconds=600)
    assert "counted: the page made 2 requests of its own; the next one waits 0.4 s longer" in [
        one.words for one in told
    ]


async def test_a_page_asks_for_nothing_that_robots_txt_forbids(browser: Browsing, site: Site):
    site.page("/robots.txt", "User-agent: *\nDisallow: /private\n", "text/plain")
    asks = "for (const path of ['/private/list', '/open/list']) fetch(path)"
    site.page("/page", f"<body>{LONG}<script>{asks}</script>")
    site.page("/open/list", "[]", "application/json")
    assert (await browser.get(f"{site.origin}/page")).failure is None
    assert (site.visits("/private/list"), site.visits("/open/list")) == (0, 1)


async def test_a_page_that_never_has_enough_is_bounded(browser: Browsing, site: Site):
    site.page("/greedy", f"<body>{LONG}<script>for (let i = 0; i < 150; i++) fetch('/more')</script>")
    result = await browser.get(f"{site.origin}/greedy", obey_robots=False)
    assert result.failure is None
    assert (site.visits("/more"), result.requests) == (100, 101)
