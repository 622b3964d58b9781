"""A server that speaks HTTP/2 only: the first lane cannot, the second can, behind the same gates."""

import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from rig.http2 import Http2Server, an_http2_server
from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.engine.clock import RealClock
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.curl_transport import CurlTransport, curl_or_none
from tidemill.fetching.fallback_transport import FallbackTransport
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.http import HttpFetcher, http_fetcher
from tidemill.pipeline.ports import FetchRequest, FetchResult

LONG = b"<p>hoi</p>" * 20_000
PAGES = {"/agenda": b"<h1>Agenda</h1>", "/long": LONG}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Http2Server]:
    async with an_http2_server(PAGES, tmp_path) as served:
        yield served


def fetcher_to(server: Http2Server, *allow: str, trusting: bool = True, curl: bool = True) -> HttpFetcher:
    """Both lanes, as the system has them, but that the server's own authority is trusted."""
    package = curl_or_none()
    if package is None:
        pytest.skip("the extra `curl` is not installed")
    guard, names = AddressGuard(allow or ("127.0.0.0/8",)), {"h2.test": f"127.0.0.1:{server.port}"}
    authority = server.authority if trusting else None
    tls = ssl.create_default_context(cafile=str(server.authority))
    tls.set_alpn_protocols(["http/1.1"])
    second = CurlTransport(package, guard, resolve=names, ca_file=authority) if curl else None
    lanes = FallbackTransport(AiohttpTransport(guard, resolve=names, tls=tls), second, RealClock())
    return http_fetcher(RealClock(), transport=lanes, allow=allow or ("127.0.0.0/8",))


async def fetch(fetcher: HttpFetcher, path: str = "/agenda", **terms: object) -> FetchResult:
    given = {"url": f"https://h2.test{path}", "host": "h2.test", "pace": Pace(timedelta(0), parallel=9), **terms}
    try:
        return await fetcher.fetch(FetchRequest(**given))  # type: ignore[arg-type]
    finally:
        await fetcher.close()


async def test_a_page_comes_over_http2_with_robots_txt_asked_first(server: Http2Server) -> None:
    result = await fetch(fetcher_to(server))
    assert (result.failure, result.status_code, result.body) == (None, 200, b"<h1>Agenda</h1>")
    assert result.content_type == "text/html"
    assert [asked[":path"] for asked in server.asked] == ["/robots.txt", "/agenda"]
    assert {asked[":authority"] for asked in server.asked} == {"h2.test"}
    assert {asked["user-agent"] for asked in server.asked} == {"Tidemill/0.1"}
    assert not any("connection" in asked for asked in server.asked), "HTTP/2 knows no such header"


async def test_a_long_page_comes_whole(server: Http2Server) -> None:
    assert (await fetch(fetcher_to(server), "/long")).body == LONG


async def test_a_page_larger_than_the_cap_is_cut(server: Http2Server) -> None:
    result = await fetch(fetcher_to(server), "/long", max_bytes=5_000)
    assert (result.failure, len(result.body)) == (Failure.TOO_LARGE, 5_000)


async def test_a_certificate_that_nobody_signed_is_refused_over_http2_too(server: Http2Server) -> None:
    result = await fetch(fetcher_to(server, trusting=False), obey_robots=False)
    assert result.failure is Failure.TLS_FAILED
    assert server.asked == []


@pytest.mark.shows("F8")
async def test_the_guard_holds_for_http2(server: Http2Server) -> None:
    result = await fetch(fetcher_to(server, "10.0.0.0/8"), obey_robots=False)
    assert result.failure is Failure.ADDRESS_REFUSED
    assert server.connections == 0


async def test_without_the_second_lane_the_failure_stands(server: Http2Server) -> None:
    assert (await fetch(fetcher_to(server, curl=False), obey_robots=False)).failure is Failure.SERVER_ERROR
    assert server.asked == []
