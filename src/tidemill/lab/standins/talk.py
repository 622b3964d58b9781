"""What a stand-in is asked and answers, over real sockets or without any."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import parse_qsl, urlsplit

import msgspec
from aiohttp import web

from tidemill.core.failure import Failure
from tidemill.lab.loopback import ONLY_ADDRESS, listening_sockets
from tidemill.lab.wall import wall_time
from tidemill.pipeline.ports import Clock, Transport, WireFailure, WireRequest, WireResponse


class StandinFault(StrEnum):
    """How a service can be unwell; each stand-in gives the words that its service would."""

    NONE = "none"
    DOWN = "down"
    HANGS = "hangs"
    BROKEN = "broken"
    GARBAGE = "garbage"
    RATE_LIMITED = "rate limited"
    OUT_OF_QUOTA = "out of quota"
    BAD_KEY = "bad key"


class Call(msgspec.Struct, frozen=True):
    """One request as the service sees it; header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    content: bytes


class StandinReply(msgspec.Struct, frozen=True):
    """What it answers; `hangs` when it never does, and `is_down` when nobody is there to."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    hangs: bool = False
    is_down: bool = False


class Standin(Protocol):
    """A service that answers calls at a moment."""

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Answer one call."""
        ...


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> StandinReply:
    """An answer in JSON."""
    kind = {"content-type": "application/json; charset=utf-8"}
    return StandinReply(status, msgspec.json.encode(value), {**kind, **(headers or {})})


class StandinServer:
    """A stand-in on a loopback port: `async with StandinServer(bee) as server: server.origin`."""

    def __init__(
        self,
        standin: Standin,
        *,
        port: int = 0,
        address: str = ONLY_ADDRESS,
        now: Callable[[], datetime] = wall_time,
    ) -> None:
        """Nothing is opened before the server is entered."""
        self.origin = ""
        self._address = address
        self._standin = standin
        self._port = port
        self._now = now
        self._closing = asyncio.Event()
        self._runner = web.ServerRunner(web.Server(self._serve, access_log=None, handler_cancellation=True))

    async def __aenter__(self) -> Self:
        """Listen."""
        listener = listening_sockets([self._address], self._port)[0]
        self.origin = f"http://{self._address}:{listener.getsockname()[1]}"
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of everyone who still waits, and close."""
        self._closing.set()
        await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        call = Call(request.method, request.path, dict(request.query), headers, await request.read())
        reply = await self._standin.answer(call, self._now())
        if reply.hangs:
            await self._closing.wait()
        if (reply.hangs or reply.is_down) and request.transport is not None:
            request.transport.close()
        return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))


class StandinTransport:
    """Stand-ins without sockets, by origin, in the time of a clock; everything else goes on to `beyond`."""

    def __init__(self, standins: Mapping[str, Standin], clock: Clock, beyond: Transport) -> None:
        """`standins` answers for its origins, such as `https://api.apify.com`."""
        self._standins = standins
        self._clock = clock
        self._beyond = beyond

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Send one request, to a stand-in or beyond."""
        parts = urlsplit(request.url)
        standin = self._standins.get(f"{parts.scheme}://{parts.netloc}")
        if standin is None:
            return await self._beyond.send(request, before_send)
        await before_send()
        headers = {name.lower(): value for name, value in request.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        now = self._clock.now()
        reply = await standin.answer(Call(request.method, parts.path, query, headers, request.content), now)
        if reply.hangs:
            await self._clock.sleep_until(now + request.timeout)
            return WireFailure(failure=Failure.TIMED_OUT, detail="no answer came in time", may_have_arrived=True)
        if reply.is_down:
            return WireFailure(failure=Failure.CONNECTION_LOST, detail="no connection can be made")
        cut = Failure.TOO_LARGE if len(reply.body) > request.max_bytes else None
        answered = {name.lower(): value for name, value in reply.headers.items()}
        return WireResponse(
            status_code=reply.status, headers=answered, body=reply.body[: request.max_bytes], cut=cut
        )  # fmt: skip

    async def close(self) -> None:
        """Close what is beyond."""
        await self._beyond.close()
