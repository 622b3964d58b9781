"""Two lanes for plain HTTP: the quick client first, the forgiving one for servers that break HTTP."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from tidemill.core.degradation import Service
from tidemill.core.failure import Failure
from tidemill.core.urls import origin_of
from tidemill.fetching.aiohttp_request import BeforeSend
from tidemill.pipeline.ports import Clock, Transport, WireFailure, WireRequest, WireResponse

REMEMBERED_FOR = timedelta(days=1)
MOST_REMEMBERED = 10_000
WANTS_ANOTHER_HTTP = frozenset({426, 505})

Report = Callable[[Service, str], Awaitable[None]]
"""Told how a service went: '' when it did its work, else why it could not."""


class FallbackTransport:
    """Sends by the first lane; where a server breaks HTTP, tries the second once and remembers where it worked."""

    def __init__(self, first: Transport, second: Transport | None, clock: Clock, report: Report | None = None) -> None:
        """`second` is None where its extra is not installed: `report` hears of it when it would have been used."""
        self._first = first
        self._second = second
        self._clock = clock
        self._report = report
        self._odd: dict[str, datetime] = {}

    async def send(self, request: WireRequest, before_send: BeforeSend) -> WireResponse | WireFailure:
        """Send one request; a second one goes out only when the first was answered with something that is not HTTP."""
        if self._odd and self._second is not None and self._is_odd(origin_of(request.url)):
            return await self._second.send(request, before_send)
        answer = await self._first.send(request, before_send)
        return await self._forgiven(request, before_send, answer) if breaks_http(answer) else answer

    async def close(self) -> None:
        """Close both lanes."""
        await self._first.close()
        if self._second is not None:
            await self._second.close()

    async def _forgiven(
        self, request: WireRequest, before_send: BeforeSend, first: WireResponse | WireFailure
    ) -> WireResponse | WireFailure:
        """What the second lane makes of it, if it makes more of it than the first."""
        if self._second is None:
            await self._tell(f"{origin_of(request.url)} breaks HTTP, and the extra `curl` is not installed")
            return first
        second = await self._second.send(request, before_send)
        if isinstance(second, WireFailure) or second.cut is not None:
            return first if isinstance(first, WireResponse) else second
        self._remember(origin_of(request.url))
        await self._tell("")
        return second

    async def _tell(self, trouble: str) -> None:
        if self._report is not None:
            await self._report(Service.CURL, trouble)

    def _is_odd(self, origin: str) -> bool:
        until = self._odd.get(origin)
        return until is not None and self._clock.now() < until

    def _remember(self, origin: str) -> None:
        if len(self._odd) >= MOST_REMEMBERED:
            del self._odd[next(iter(self._odd))]
        self._odd[origin] = self._clock.now() + REMEMBERED_FOR


def breaks_http(answer: WireResponse | WireFailure) -> bool:
    """Whether the trouble is the server's way of speaking, not its health, its line or its will."""
    if isinstance(answer, WireFailure):
        return answer.failure is Failure.SERVER_ERROR
    return answer.is_garbled or answer.status_code in WANTS_ANOTHER_HTTP
