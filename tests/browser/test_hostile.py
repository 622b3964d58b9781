"""No hostile address reaches a socket from within a browser either, whoever in the page asks for it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from integration.fetching.conftest import Served
from integration.fetching.hostile_table import HOSTILE, LOOPBACK_IN_DISGUISE, hostile_url
from integration.fetching.test_hostile import CountingGuard, Dns
from rig.chromium import Browsing, browsing
from tidemill.core.failure import Failure

pytestmark = [pytest.mark.shows("F8"), pytest.mark.asyncio(loop_scope="module")]

REFUSED = {Failure.ADDRESS_REFUSED, Failure.BAD_URL}
LURE = "127.0.0.2"
TEXT = "<p>" + "Dit is een gewone pagina met genoeg tekst om te lezen. " * 4 + "</p>"


@asynccontextmanager
async def listening(host: str, answers: dict[str, bytes]) -> AsyncIterator[Served]:
    served = Served(host, answers)
    server = await asyncio.start_server(served.handle, host, 0)
    served.port = server.sockets[0].getsockname()[1]
    yield served
    server.close()


def page(markup: str) -> bytes:
    body = markup.encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def victim() -> AsyncIterator[Served]:
    async with listening("127.0.0.1", {}) as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lure() -> AsyncIterator[Served]:
    async with listening(LURE, {}) as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(chromium: str, lure: Served) -> AsyncIterator[Browsing]:
    """A browser that may reach the lure and nothing else, with a name server in the enemy's hands."""
    allow = [f"{LURE}:{lure.port}"]
    dns = Dns(LOOPBACK_IN_DISGUISE)
    async with browsing(chromium, allow=allow, guard=CountingGuard(allow), dns=dns) as own:
        yield own


@pytest.mark.parametrize("url", HOSTILE)
async def test_no_hostile_address_reaches_a_socket(browser: Browsing, victim: Served, url: str):
    before = browser.guard.opened
    result = await browser.get(hostile_url(url, victim.port), obey_robots=False, seconds=10)
    assert result.failure in REFUSED
    assert (browser.guard.opened - before, victim.connections) == (0, 0)


async def test_no_hostile_redirect_reaches_a_socket(browser: Browsing, victim: Served, lure: Served):
    for url in HOSTILE:
        location = hostile_url(url, victim.port).encode()
        lure.answers = {"/": b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % location}
        before = len(lure.paths)
        result = await browser.get(f"{lure.origin}/", obey_robots=False, seconds=10)
        elsewhere_on_the_lure = lure.paths[before + 1 :]  # `http:x` and `http:///` are places on the lure itself
        assert result.failure in REFUSED or elsewhere_on_the_lure, url
    assert victim.connections == 0


async def test_nothing_in_a_page_reaches_a_hostile_address(browser: Browsing, victim: Served, lure: Served):
    """Scripts, frames, styles, sockets, workers, beacons and prefetches, for every address of the table at once."""
    aims = [url for url in (hostile_url(each, victim.port) for each in HOSTILE) if '"' not in url]
    marks = "".join(
        f'<script src="{url}" async></script><link rel=stylesheet href="{url}"><link rel=prefetch href="{url}">'
        f'<link rel=preconnect href="{url}"><iframe src="{url}"></iframe><object data="{url}"></object>'
        for url in aims
    )
    deeds = (
        "for (const url of urls) {"
        " for (const deed of [u => fetch(u, {mode: 'no-cors'}), u => navigator.sendBeacon(u), u => new EventSource(u),"
        " u => new WebSocket(u.replace(/^http/, 'ws')), u => window.open(u), u => new Worker(u),"
        " u => new WebTransport(u.replace(/^http:/, 'https:')), u => navigator.serviceWorker.register(u)])"
        "  try { Promise.resolve(deed(url)).catch(() => 0) } catch {} }"
    )
    udp = (
        "try { const peer = new RTCPeerConnection({iceServers: [{urls: `stun:127.0.0.1:${port}`}]});"
        " peer.createDataChannel('x'); peer.createOffer().then(o => peer.setLocalDescription(o)) } catch {}"
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ears:
        ears.bind(("127.0.0.1", 0))
        ears.settimeout(0)
        script = f"const urls = {aims!r}, port = {ears.getsockname()[1]}; {deeds} {udp}"
        lure.answers = {"/": page(f"<body>{TEXT}{marks}<script>{script}</script>")}
        before = browser.guard.opened - lure.connections
        result = await browser.get(f"{lure.origin}/", obey_robots=False, seconds=20)
        assert result.failure is None
        assert "gewone pagina" in result.body.decode()
        assert victim.connections == 0
        assert browser.guard.opened - lure.connections == before
        with pytest.raises(BlockingIOError):
            ears.recv(1)


async def test_a_script_that_leads_to_a_hostile_address_is_refused(browser: Browsing, victim: Served, lure: Served):
    for aim in (victim.origin, "file:///etc/passwd"):
        lure.answers = {"/": page(f"<body>{TEXT}<script>location.href = '{aim}'</script>")}
        result = await browser.get(f"{lure.origin}/", obey_robots=False)
        assert result.failure in REFUSED or "gewone pagina" in result.body.decode()
        assert b"root:" not in result.body
    assert victim.connections == 0


async def test_a_name_whose_answer_changes_is_refused_when_it_does(chromium: str, victim: Served, lure: Served):
    script = "fetch('/again').catch(() => document.body.append('lost'))"
    lure.answers = {"/": page(f"<body>{TEXT}<script>{script}</script>")}
    guard = CountingGuard([f"{LURE}:{lure.port}"])
    async with browsing(chromium, guard=guard, dns=Dns([LURE], ["127.0.0.1"])) as own:
        result = await own.get(f"http://rebinding.example:{lure.port}/", obey_robots=False)
        assert "lost" in result.body.decode()
        assert "/again" not in lure.paths
        again = await own.get(f"http://rebinding.example:{lure.port}/", obey_robots=False)
        assert again.failure is Failure.ADDRESS_REFUSED
    assert guard.opened == 1
    assert victim.connections == 0


async def test_an_allowed_address_is_reached_whatever_its_spelling(browser: Browsing, lure: Served):
    lure.answers = {"/": page(f"<body>{TEXT}")}
    result = await browser.get(f"http://0x7f.2:{lure.port}/", obey_robots=False)
    assert (result.failure, result.final_url) == (None, f"{lure.origin}/")
