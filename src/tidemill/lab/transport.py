"""The lab without sockets: answers one request from the world, at the moment that the clock shows."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import msgspec
import xxhash

from tidemill.core.failure import Failure
from tidemill.lab.faults import Outage
from tidemill.lab.messages import Behaviour, LabRequest, LabResponse
from tidemill.lab.world import World
from tidemill.pipeline.ports import Clock, WireFailure, WireRequest, WireResponse

_FASTEST = timedelta(milliseconds=40)
_SLOWEST = timedelta(milliseconds=400)
_CONNECTING = timedelta(milliseconds=20)
_KEPT_OPEN = timedelta(seconds=15)
"""How long a connection is good for after a whole answer, as clients keep them."""


class LabVisit(msgspec.Struct, frozen=True):
    """A request as its site saw it, and when."""

    host: str
    path: str
    at: datetime


class LabTransport:
    """Sends requests to a world instead of to the web.

    What sites take to answer is drawn from the world's seed, the host and the number of the visit, so that it is the
    same every time. `visits` holds every request that reached a site, in order.
    """

    def __init__(self, world: World, clock: Clock) -> None:
        """Ask `world`, in the time of `clock`."""
        self._world = world
        self._clock = clock
        self._hosts = {origin: host for host, origin in world.origins.items()}
        self._counts: dict[str, int] = {}
        self._open_until: dict[str, datetime] = {}
        self.visits: list[LabVisit] = []

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Send one request and answer with what came, within its time and size."""
        parts = urlsplit(request.url)
        host = self._hosts.get(f"{parts.scheme}://{parts.netloc}")
        if host is None:
            return WireFailure(failure=Failure.DNS_FAILED, detail=f"the lab has no site at {parts.netloc}")
        if self._open_until.pop(host, self._world.start) <= self._clock.now():
            await self._clock.sleep_until(self._clock.now() + _CONNECTING)
        if any(isinstance(fault, Outage) for fault in self._world.faults(host, self._clock.now())):
            return WireFailure(failure=Failure.CONNECTION_LOST, detail="no connection can be made")
        await before_send()
        departed = self._clock.now()
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        self.visits.append(LabVisit(host, path, departed))
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = self._world.respond(LabRequest(host, path, headers), departed)
        received = await self._arrive(request, answer, departed, self._latency(host))
        if isinstance(received, WireResponse) and received.cut is None:
            self._open_until[host] = self._clock.now() + _KEPT_OPEN
        return received

    async def close(self) -> None:
        """There is nothing to let go of."""

    async def _arrive(
        self, request: WireRequest, answer: LabResponse, departed: datetime, latency: timedelta
    ) -> WireResponse | WireFailure:
        """Let the answer take its time, and lose what the site's behaviour loses."""
        takes = latency
        if answer.behaviour is Behaviour.DRIP:
            takes += answer.pause * answer.pieces
        if answer.behaviour is Behaviour.HANG or latency > request.timeout:
            await self._clock.sleep_until(departed + request.timeout)
            return WireFailure(failure=Failure.TIMED_OUT, detail="no answer came in time")
        await self._clock.sleep_until(departed + min(takes, request.timeout))
        if answer.behaviour is Behaviour.REFUSE:
            return WireFailure(failure=Failure.CONNECTION_LOST, detail="the connection was closed without an answer")
        body, cut = _received(answer, request.max_bytes)
        if takes > request.timeout:
            share = (request.timeout - latency) / (takes - latency)
            body, cut = body[: int(len(body) * share)], Failure.TIMED_OUT
        return WireResponse(status_code=answer.status, headers=answer.headers, body=body, cut=cut)

    def _latency(self, host: str) -> timedelta:
        visit = self._counts[host] = self._counts.get(host, 0) + 1
        drawn = xxhash.xxh3_64_intdigest(f"{self._world.seed}/{host}/{visit}".encode()) / 2**64
        return _FASTEST + (_SLOWEST - _FASTEST) * drawn


def _received(answer: LabResponse, max_bytes: int) -> tuple[bytes, Failure | None]:
    """As much of the body as came and was taken."""
    if answer.stream is not None:
        return _streamed(answer.stream, max_bytes)
    if answer.behaviour is Behaviour.CUT:
        return answer.body[: min(answer.sent, max_bytes)], Failure.TRUNCATED_BODY
    if len(answer.body) > max_bytes:
        return answer.body[:max_bytes], Failure.TOO_LARGE
    return answer.body, None


def _streamed(stream: Callable[[], Iterator[bytes]], max_bytes: int) -> tuple[bytes, Failure | None]:
    pieces, room = [], max_bytes
    for piece in stream():
        pieces.append(piece[:room])
        if len(piece) > room:
            return b"".join(pieces), Failure.TOO_LARGE
        room -= len(piece)
    return b"".join(pieces), None
