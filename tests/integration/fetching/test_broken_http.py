"""Servers that break HTTP, met by both lanes: what can be read is read, what is cut is known to be cut."""

import asyncio
import gzip
from datetime import timedelta

import pytest

from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.core.services.degradation import Service
from tidemill.engine.clock import RealClock
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.curl_transport import CurlTransport, curl_or_none
from tidemill.fetching.fallback_transport import FallbackTransport
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.http import http_fetcher
from tidemill.lab.broken_http import BODY, BREAKAGES, BrokenHttp, Readable
from tidemill.pipeline.ports import FetchRequest, FetchResult, WireFailure, WireRequest, WireResponse

from .conftest import Serve
from .hostile_table import HOSTILE, LOOPBACK_IN_DISGUISE, hostile_url
from .test_hostile import REFUSED, CountingGuard, Dns, fetcher_with
from .test_hostile import fetch as fetch_with

LAB = ["127.0.0.0/8"]
curl = curl_or_none()
pytestmark = [pytest.mark.shows("F1"), pytest.mark.skipif(curl is None, reason="the extra `curl` is not installed")]


async def fetched(path: str, server: BrokenHttp) -> FetchResult:
    fetcher = http_fetcher(RealClock(), allow=LAB)
    request = FetchRequest(
        url=f"{server.origin}/{path}", host="127.0.0.1", pace=Pace(timedelta(0)), obey_robots=False
    )  # fmt: skip
    try:
        return await fetcher.fetch(request)
    finally:
        await fetcher.close()


@pytest.mark.parametrize("path", [path for path, each in BREAKAGES.items() if each.readable is Readable.WHOLE])
async def test_what_is_whole_is_read_however_it_is_wrapped(path: str) -> None:
    async with BrokenHttp() as server:
        result = await fetched(path, server)
    assert (result.failure, result.body) == (None, BODY)


@pytest.mark.parametrize("path", [path for path, each in BREAKAGES.items() if each.readable is Readable.PART])
async def test_what_is_cut_is_truncated_and_the_part_is_evidence(path: str) -> None:
    async with BrokenHttp() as server:
        result = await fetched(path, server)
    assert result.failure is Failure.TRUNCATED_BODY
    assert result.body.startswith(BODY[:20])


@pytest.mark.parametrize("path", [path for path, each in BREAKAGES.items() if each.readable is Readable.NOTHING])
async def test_what_cannot_be_read_is_a_failure_and_asked_twice_at_most(path: str) -> None:
    async with BrokenHttp() as server:
        result = await fetched(path, server)
        assert server.asked.count(path) == result.requests <= 2
    assert result.failure in {Failure.SERVER_ERROR, Failure.CONNECTION_LOST}


async def test_where_the_second_lane_worked_the_first_is_not_asked_again() -> None:
    async with BrokenHttp() as server:
        fetcher = http_fetcher(RealClock(), allow=LAB)
        request = FetchRequest(
            url=f"{server.origin}/chunks-by-lf", host="127.0.0.1", pace=Pace(timedelta(0)), obey_robots=False
        )  # fmt: skip
        results = [await fetcher.fetch(request) for _ in range(2)]
        await fetcher.close()
        assert [result.requests for result in results] == [2, 1]
        assert len(server.asked) == 3


async def test_the_second_request_keeps_its_distance(serve: Serve) -> None:
    served = await serve({"/": BREAKAGES["header-with-a-space"].answer})
    fetcher = http_fetcher(RealClock(), allow=LAB)
    pace = Pace(timedelta(milliseconds=100))
    result = await fetcher.fetch(FetchRequest(url=served.origin + "/", host="x", pace=pace, obey_robots=False))
    await fetcher.close()
    assert (result.body, result.requests) == (BODY, 2)
    assert served.arrivals[1] - served.arrivals[0] > 0.08  # 100 ms, and a busy machine's grace


async def test_a_missing_extra_is_told_when_it_would_have_helped() -> None:
    told: list[tuple[Service, str]] = []

    async def report(service: Service, trouble: str) -> None:
        told.append((service, trouble))

    async with BrokenHttp() as server:
        lanes = FallbackTransport(AiohttpTransport(AddressGuard(LAB)), None, RealClock(), report)
        answer = await send(lanes, f"{server.origin}/chunks-by-lf")
        await lanes.close()
    assert isinstance(answer, WireFailure)
    assert told == [(Service.CURL, f"{server.origin} breaks HTTP, and the extra `curl` is not installed")]


async def send(
    lane: FallbackTransport | CurlTransport, url: str, max_bytes: int = 10_000, seconds: float = 5
) -> WireResponse | WireFailure:
    async def before_send() -> None:
        pass

    return await lane.send(
        WireRequest(
            url=url, headers={"User-Agent": "Tidemill"}, timeout=timedelta(seconds=seconds), max_bytes=max_bytes
        ),
        before_send,
    )


async def by_curl(url: str, guard: AddressGuard | None = None, dns: Dns | None = None, **terms: float) -> object:
    assert curl is not None
    lane = CurlTransport(curl, guard or AddressGuard(LAB), dns=dns)
    try:
        return await send(lane, url, **terms)  # type: ignore[arg-type]
    finally:
        await lane.close()


async def test_the_second_lane_stops_at_the_first_byte_too_many(serve: Serve) -> None:
    served = await serve({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + bytes(5_000_000)})
    answer = await by_curl(served.origin + "/", max_bytes=1000)
    assert isinstance(answer, WireResponse)
    assert (answer.cut, len(answer.body)) == (Failure.TOO_LARGE, 1000)


async def test_the_second_lane_gives_up_in_time_and_hands_bodies_over_as_they_came(serve: Serve) -> None:
    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    packed = gzip.compress(BODY)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(packed)
    served = await serve({"/": head + packed, "/hang": hang, "/moved": moved_to("/")})
    late = await by_curl(served.origin + "/hang", seconds=0.1)
    assert isinstance(late, WireFailure)
    assert late.failure is Failure.TIMED_OUT
    answer = await by_curl(served.origin + "/")
    assert isinstance(answer, WireResponse)
    assert (answer.body, answer.headers["content-encoding"]) == (packed, "gzip")
    answer = await by_curl(served.origin + "/moved")
    assert isinstance(answer, WireResponse)
    assert (answer.status_code, answer.headers["location"]) == (302, "/")


def moved_to(where: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode()


@pytest.mark.parametrize("url", HOSTILE)
async def test_no_hostile_address_reaches_a_socket_by_the_second_lane(serve: Serve, url: str) -> None:
    victim = await serve({})
    guard = CountingGuard()
    assert curl is not None
    lane = CurlTransport(curl, guard, dns=Dns(LOOPBACK_IN_DISGUISE))
    result = await fetch_with(fetcher_with(guard, lane), hostile_url(url, victim.port))  # type: ignore[arg-type]
    assert result.failure in REFUSED
    assert victim.connections == 0


async def test_a_name_of_the_labs_own_reaches_its_address_and_port_by_the_second_lane(serve: Serve) -> None:
    served = await serve({"/": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nhoi"})
    assert curl is not None
    lane = CurlTransport(curl, AddressGuard(LAB), resolve={"agenda.lab.test": f"127.0.0.1:{served.port}"})
    answer = await send(lane, "http://agenda.lab.test/")
    await lane.close()
    assert isinstance(answer, WireResponse)
    assert answer.body == b"hoi"
    assert b"Host: agenda.lab.test\r\n" in served.heads[0]
