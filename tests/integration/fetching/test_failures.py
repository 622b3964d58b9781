"""Each way in which a server fails us, met over a real socket, is one failure with its evidence."""

import asyncio
import contextlib
import gzip
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.engine.clock import RealClock
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.http import HttpFetcher, http_fetcher
from tidemill.pipeline.ports import FetchRequest, FetchResult, FetchStatus

from .conftest import Answer, Serve, Served

FREE = Pace(timedelta(0), parallel=50)
SHORT = timedelta(milliseconds=150)
LAB = ["127.0.0.0/8"]


def http(body: bytes, *headers: str, code: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {code}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A byte now and then: always busy, never done."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1500\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"x")
        await writer.drain()
        try:
            await asyncio.wait_for(reader.read(1), 0.02)
        except TimeoutError:
            continue
        return


async def drop(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def saying(data: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]:
    """Say this and hang up."""

    async def say(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        with contextlib.suppress(OSError):  # whoever asked may have gone
            await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    return say


async def endless(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A body without a length that never ends."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(bytes(65_536))
        await writer.drain()


async def fetch(fetcher: HttpFetcher, url: str, **terms: object) -> FetchResult:
    given = {"url": url, "host": "127.0.0.1", "pace": FREE, "obey_robots": False, **terms}
    try:
        return await fetcher.fetch(FetchRequest(**given))  # type: ignore[arg-type]
    finally:
        await fetcher.close()


async def fetch_from(served: Served, path: str = "/", **terms: object) -> FetchResult:
    return await fetch(http_fetcher(RealClock(), allow=LAB), served.origin + path, **terms)


SQUEEZED = gzip.compress(b"<p>hoi</p>" * 50)
HALF_A_CHUNK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf"
GZIP_WITHOUT_END = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + SQUEEZED[:-9]


@pytest.mark.shows("F1")
@pytest.mark.parametrize(
    ("answer", "status", "failure"),
    [
        (hang, FetchStatus.TIMEOUT, Failure.TIMED_OUT),
        (drip, FetchStatus.TIMEOUT, Failure.TIMED_OUT),
        (drop, FetchStatus.ERROR, Failure.CONNECTION_LOST),
        (reset, FetchStatus.ERROR, Failure.CONNECTION_LOST),
        (saying(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), FetchStatus.ERROR, Failure.SERVER_ERROR),
        (saying(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"), FetchStatus.ERROR, Failure.SERVER_ERROR),
        (saying(b"HTTP/1.1 200 OK\r\nContent-Le"), FetchStatus.ERROR, Failure.CONNECTION_LOST),
        (saying(http(b"half", length=1800)), FetchStatus.ERROR, Failure.TRUNCATED_BODY),
        (saying(HALF_A_CHUNK), FetchStatus.ERROR, Failure.TRUNCATED_BODY),
        (saying(GZIP_WITHOUT_END), FetchStatus.ERROR, Failure.TRUNCATED_BODY),
        (http(b"", code="403 Forbidden"), FetchStatus.BLOCKED, Failure.FORBIDDEN),
        (http(b"", code="429 Too Many"), FetchStatus.BLOCKED, Failure.RATE_LIMITED),
        (http(b"", code="404 Not Found"), FetchStatus.ERROR, Failure.NOT_FOUND),
        (http(b"", code="503 Busy"), FetchStatus.ERROR, Failure.SERVER_ERROR),
        (http(b"x" * 3000), FetchStatus.TOO_LARGE, Failure.TOO_LARGE),
        (http(b"", length=10**12), FetchStatus.TOO_LARGE, Failure.TOO_LARGE),
        (endless, FetchStatus.TOO_LARGE, Failure.TOO_LARGE),
        (http(gzip.compress(bytes(500_000)), "Content-Encoding: gzip"), FetchStatus.TOO_LARGE, Failure.TOO_LARGE),
    ],
)  # fmt: skip
async def test_a_server_that_fails_us_is_one_failure(
    serve: Serve, answer: Answer, status: FetchStatus, failure: Failure
) -> None:
    result = await fetch_from(await serve({"/": answer}), timeout=SHORT, max_bytes=2000)
    assert (result.status, result.failure) == (status, failure)
    assert len(result.body) <= 2000
    assert result.error


async def test_what_came_before_a_body_broke_off_is_evidence(serve: Serve) -> None:
    result = await fetch_from(await serve({"/": saying(http(b"half a page", length=5000))}))
    assert (result.failure, result.body, result.status_code) == (Failure.TRUNCATED_BODY, b"half a page", 200)


async def test_a_page_that_drips_is_kept_as_far_as_it_came(serve: Serve) -> None:
    result = await fetch_from(await serve({"/": drip}), timeout=SHORT)
    assert set(result.body) == {ord("x")}


async def test_a_port_where_nobody_listens_is_a_lost_connection() -> None:
    fetcher = http_fetcher(RealClock(), allow=LAB)
    silent = await asyncio.start_server(drop, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    silent.close()
    await silent.wait_closed()
    assert (await fetch(fetcher, f"http://127.0.0.1:{port}/")).failure is Failure.CONNECTION_LOST


@pytest.mark.shows("F1")
async def test_a_server_that_does_not_speak_tls_is_a_tls_failure() -> None:
    talks: list[asyncio.Task[None]] = []
    say = saying(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.append(asyncio.ensure_future(say(reader, writer)))

    plain = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = plain.sockets[0].getsockname()[1]
    result = await fetch(http_fetcher(RealClock(), allow=LAB), f"https://127.0.0.1:{port}/")
    plain.close()
    await asyncio.gather(*talks)
    assert result.failure is Failure.TLS_FAILED


class NoSuchName(AbstractResolver):
    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        raise OSError(None, f"no such name: {host}:{port} ({family})")

    async def close(self) -> None:
        pass


@pytest.mark.shows("F1")
async def test_a_name_that_dns_does_not_know_is_a_dns_failure() -> None:
    fetcher = http_fetcher(RealClock(), transport=AiohttpTransport(AddressGuard(), dns=NoSuchName()))
    assert (await fetch(fetcher, "http://nowhere.example/")).failure is Failure.DNS_FAILED


async def test_a_whole_page_comes_over_one_connection_kept_alive(serve: Serve) -> None:
    served = await serve({"/": http(SQUEEZED, "Content-Encoding: gzip", "Set-Cookie: a=b", "Content-Type: text/html")})
    fetcher = http_fetcher(RealClock(), allow=LAB)
    request = FetchRequest(url=served.origin + "/", host="127.0.0.1", pace=FREE)
    results = [await fetcher.fetch(request) for _ in range(3)]
    await fetcher.close()
    assert {result.body for result in results} == {b"<p>hoi</p>" * 50}
    assert (served.connections, served.paths) == (1, ["/robots.txt", "/", "/", "/"])
    assert not any(b"cookie" in head.lower() for head in served.heads)
    assert all(b"User-Agent: Tidemill/0.1\r\n" in head for head in served.heads)


async def test_a_connection_with_half_a_body_left_on_it_is_never_used_again(serve: Serve) -> None:
    served = await serve({"/": http(bytes(5_000_000)), "/next": http(b"next")})
    fetcher = http_fetcher(RealClock(), allow=LAB)
    request = FetchRequest(url=served.origin + "/", host="127.0.0.1", pace=FREE, obey_robots=False, max_bytes=1000)
    assert (await fetcher.fetch(request)).failure is Failure.TOO_LARGE
    assert (await fetch(fetcher, served.origin + "/next")).body == b"next"
    assert served.connections == 2


async def test_headers_that_are_not_ascii_come_back_legible(serve: Serve) -> None:
    moved = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf\xe9\r\n\r\n"
    served = await serve({"/": moved, "/caf%C3%A9": http(b"koffie")})
    result = await fetch_from(served)
    assert (result.body, result.final_url) == (b"koffie", served.origin + "/caf%C3%A9")


async def test_a_name_of_the_labs_own_reaches_its_address_and_port(serve: Serve) -> None:
    served = await serve({"/": http(b"hoi")}, "127.0.0.12")
    names = {"Uitagenda.lab.test": f"127.0.0.12:{served.port}"}
    result = await fetch(http_fetcher(RealClock(), allow=LAB, resolve=names), "http://uitagenda.lab.test/")
    assert result.body == b"hoi"
    assert b"Host: uitagenda.lab.test\r\n" in served.heads[0]


async def test_a_fetch_that_is_cancelled_leaves_nothing_open(serve: Serve) -> None:
    served = await serve({"/": hang})
    fetcher = http_fetcher(RealClock(), allow=LAB)
    task = asyncio.create_task(fetch(fetcher, served.origin + "/"))
    while not served.heads:
        await RealClock().sleep_until(RealClock().now() + timedelta(milliseconds=1))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.shows("F6")
async def test_as_the_server_sees_it_requests_keep_their_distance_robots_and_redirects_included(serve: Serve) -> None:
    served = await serve({"/": http(b"", "Location: /b", code="302 Found"), "/b": http(b"there")})
    fetcher = http_fetcher(RealClock(), allow=LAB)
    pace = Pace(timedelta(milliseconds=40), burst=1, parallel=3)
    request = FetchRequest(url=served.origin + "/", host="127.0.0.1", pace=pace)
    results = await asyncio.gather(*(fetcher.fetch(request) for _ in range(4)))
    await fetcher.close()
    assert {result.body for result in results} == {b"there"}
    assert len(served.arrivals) == 9
    assert served.arrivals[-1] - served.arrivals[0] > 0.25  # 8 intervals of 40 ms, and a busy machine's grace


async def test_a_second_try_on_a_connection_gone_stale_keeps_its_distance_and_is_counted(serve: Serve) -> None:
    served = await serve({})

    async def stale(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer, and hang up on whoever asks again over the same connection."""
        writer.write(http(b"there"))
        await reader.readuntil(b"\r\n\r\n")
        served.arrivals.append(asyncio.get_running_loop().time())
        writer.close()

    served.answers = {"/": stale}
    fetcher = http_fetcher(RealClock(), allow=LAB)
    pace = Pace(timedelta(milliseconds=100))
    request = FetchRequest(url=served.origin + "/", host="127.0.0.1", pace=pace, obey_robots=False)
    results = [await fetcher.fetch(request) for _ in range(2)]
    await fetcher.close()
    assert [(result.body, result.requests) for result in results] == [(b"there", 1), (b"there", 2)]
    assert served.connections == 2
    assert len(served.arrivals) == 3
    assert served.arrivals[-1] - served.arrivals[0] > 0.15  # 2 intervals of 100 ms, and a busy machine's grace


async def test_the_systems_own_resolver_is_asked_for_other_names_and_its_answers_are_judged(serve: Serve) -> None:
    served = await serve({"/": http(b"hoi")})
    url = f"http://localhost:{served.port}/"
    assert (await fetch(http_fetcher(RealClock(), allow=LAB), url)).body == b"hoi"
    assert (await fetch(http_fetcher(RealClock()), url)).failure is Failure.ADDRESS_REFUSED
    assert served.connections == 1


async def test_a_name_may_stand_for_an_address_of_the_sixth_version(serve: Serve) -> None:
    try:
        served = await serve({"/": http(b"hoi")}, "::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    fetcher = http_fetcher(RealClock(), allow=["::1"], resolve={"six.lab.test": f"[::1]:{served.port}"})
    assert (await fetch(fetcher, "http://six.lab.test/")).body == b"hoi"
