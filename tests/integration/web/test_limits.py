"""What a caller may use of the web app before anybody asks who it is, over real sockets."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from h11 import LocalProtocolError

from tidemill.bootstrap.system import System
from tidemill.bootstrap.web import Telemetry, allowed_hosts, serve_web
from tidemill.operations.mistakes import Mistake
from tidemill.settings import BadSettings, load_settings
from tidemill.web.guard import RequestGuard
from tidemill.web.limits import LARGEST_OPEN_FORM, LARGEST_PIECE, OPEN_FORMS, ServerLimits, exposure_problem
from tidemill.web.serve import serve

from .conftest import Browser, browsing, deps_of

SECOND = 0.05
"""So long a request may take here."""


async def swallow(_scope: Any, receive: Any, send: Any) -> None:
    """An app that reads whatever it is sent, and tells who called."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": _scope["client"][0].encode()})


@asynccontextmanager
async def served(**limits: Any) -> AsyncIterator[tuple[str, int]]:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(swallow, "127.0.0.1", 0, ready=ready.set_result, limits=ServerLimits(**limits)))
    host, _, port = (await ready).removeprefix("http://").rpartition(":")
    yield host, int(port)
    serving.cancel()
    await asyncio.wait([serving])


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTT",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHos",
    ],
    ids=["nothing", "half a line", "half a body", "half of a second request"],
)
async def test_a_connection_that_does_not_bring_its_request_is_closed(sent: bytes) -> None:
    async with served(request_seconds=SECOND) as place:
        reader, writer = await asyncio.open_connection(*place)
        writer.write(sent)
        with suppress(ConnectionResetError):
            await asyncio.wait_for(reader.read(), 10)
        writer.close()


async def test_an_answer_that_takes_long_is_not_cut_short() -> None:
    async def slow(_scope: Any, _receive: Any, send: Any) -> None:
        await asyncio.sleep(4 * SECOND)  # noqa: TID251 - the server's own timer is the thing under test
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"late"})

    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    limits = ServerLimits(request_seconds=SECOND)
    serving = asyncio.create_task(serve(slow, "127.0.0.1", 0, ready=ready.set_result, limits=limits))
    async with aiohttp.ClientSession() as session, session.get(await ready) as response:
        assert await response.read() == b"late"
    serving.cancel()
    await asyncio.wait([serving])


async def test_one_address_has_so_many_connections_and_gets_them_back() -> None:
    async with served(connections_per_address=3) as place:
        held = [await asyncio.open_connection(*place) for _ in range(3)]
        for _, writer in held:
            writer.write(b"GET / HTTP/1.1\r\n")
            await writer.drain()
        reader, writer = await asyncio.open_connection(*place)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(15)
        writer.close()
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        async with aiohttp.ClientSession() as session:
            while not await answers(session, place):
                pass


async def answers(session: aiohttp.ClientSession, place: tuple[str, int]) -> bool:
    """Whether a request is answered; connections that were closed a moment ago may still be counted."""
    try:
        async with session.get(f"http://{place[0]}:{place[1]}") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


@pytest.mark.parametrize(("proxies", "seen"), [((), "127.0.0.1"), (("127.0.0.1",), "203.0.113.7")])
async def test_a_proxy_is_believed_only_if_it_is_named(proxies: tuple[str, ...], seen: str) -> None:
    async with (
        served(trusted_proxies=proxies) as (host, port),
        aiohttp.ClientSession(headers={"X-Forwarded-For": "203.0.113.7"}) as session,
        session.get(f"http://{host}:{port}") as response,
    ):
        assert await response.text() == seen


async def pieces(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * 1_000


@pytest.mark.parametrize("body", [b"x" * 60_000, 60], ids=["told", "in pieces"])
async def test_too_large_a_body_is_refused_before_anybody_asks_for_a_token(
    sqlite_system: System, body: bytes | int
) -> None:
    limits = ServerLimits(body_bytes=50_000)
    access = replace(deps_of(sqlite_system).access, api_token="secret")  # noqa: S106 - nobody's
    async for browser in browsing(sqlite_system, limits=limits, access=access):
        sent = pieces(body) if isinstance(body, int) else body
        async with aiohttp.ClientSession() as session:
            url = f"{browser.address}/api/v1/targets"
            async with session.post(url, data=sent, headers={"Content-Type": "application/json"}) as response:
                assert response.status == 413
                assert (await response.json())["code"] == "too_large"
                assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", sorted(OPEN_FORMS))
async def test_forms_for_those_who_have_not_signed_in_take_little(sqlite_browser: Browser, path: str) -> None:
    async with aiohttp.ClientSession() as session:
        form = {"name": "x" * LARGEST_OPEN_FORM}
        async with session.post(f"{sqlite_browser.address}{path}", data=form) as response:
            assert response.status == 413


async def test_little_is_read_of_a_connection_at_once() -> None:
    pieces: list[int] = []

    async def reads(scope: Any, receive: Any, send: Any) -> None:
        pieces.append(scope["state"]["transport"].max_size)
        await swallow(scope, receive, send)

    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(reads, "127.0.0.1", 0, ready=ready.set_result, limits=ServerLimits()))
    async with aiohttp.ClientSession() as session, session.post(await ready, data=b"x" * 100_000) as response:
        assert response.status == 200
    assert pieces == [LARGEST_PIECE]
    serving.cancel()
    await asyncio.wait([serving])


async def test_a_caller_who_does_not_speak_http_is_no_bug_of_ours() -> None:
    bugs: list[str] = []

    async def answers_nobody(_scope: Any, _receive: Any, _send: Any) -> None:
        msg = "can't handle event type Response when role=SERVER and state=MUST_CLOSE"
        raise LocalProtocolError(msg)

    async def breaks(_scope: Any, _receive: Any, _send: Any) -> None:
        raise ValueError

    for app in (answers_nobody, breaks):
        guard = RequestGuard(app, None, lambda what, _error: bugs.append(what))
        await guard({"type": "http", "method": "GET", "path": "/x", "headers": []}, no_message, no_answer)
    assert bugs == ["the web app broke at /x"]


async def no_message() -> Any:
    return {"type": "http.disconnect"}


async def no_answer(_message: Any) -> None:
    return None


async def test_a_file_of_targets_may_be_larger(sqlite_browser: Browser) -> None:
    async with aiohttp.ClientSession() as session:
        rows = io.BytesIO(b"source,url\n" + b"nobody,https://example.org/\n" * 60_000)
        async with session.post(f"{sqlite_browser.address}/api/v1/targets/import", data=rows) as response:
            assert response.status != 413


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "mill.example"])  # noqa: S104 - not bound
async def test_the_web_app_is_not_served_to_others_without_a_token(sqlite_system: System, host: str) -> None:
    with pytest.raises(Mistake, match="set api_token"):
        async with serve_web(sqlite_system, Telemetry(print), host, 0):
            raise AssertionError


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_this_machine_alone_needs_none(host: str) -> None:
    assert exposure_problem(host, ServerLimits(), has_credentials=False) == ""
    assert "proxy" in exposure_problem(host, ServerLimits(trusted_proxies=("127.0.0.1",)), has_credentials=False)
    assert exposure_problem("0.0.0.0", ServerLimits(), has_credentials=True) == ""  # noqa: S104 - not bound


async def test_names_are_those_of_the_settings_and_addresses_are_never_rebound(sqlite_system: System) -> None:
    names = allowed_hosts(["mill.example"], "0.0.0.0")  # noqa: S104 - not bound
    async for browser in browsing(sqlite_system, allowed_hosts=names):
        for name, status in [("mill.example:80", 200), ("192.0.2.9", 200), ("evil.example", 421), ("", 421)]:
            assert (await browser.get("/api/v1/events", Host=name)).status == status, name


def test_any_name_is_allowed_by_a_star() -> None:
    assert allowed_hosts(["*"], "127.0.0.1") is None


def test_a_proxy_that_is_no_address_is_a_mistake() -> None:
    with pytest.raises(BadSettings, match="neither an address nor a network"):
        load_settings(web_trusted_proxies=["my-proxy"])
