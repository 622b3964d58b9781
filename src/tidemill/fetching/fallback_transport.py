"""Two transports for plain HTTP: the fast one first, the lenient one for servers that break HTTP."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from tidemill.core.failure import Failure
from tidemill.core.services.degradation import Service
from tidemill.core.urls import origin_of
from tidemill.fetching.aiohttp_request import BeforeSend
from tidemill.pipeline.ports import Clock, Transport, WireFailure, WireRequest, WireResponse

REMEMBERED_FOR = timedelta(days=1)
MOST_REMEMBERED_ORIGINS = 10_000
WANTS_ANOTHER_HTTP = frozenset({426, 505})

Report = Callable[[Service, str], Awaitable[None]]
"""Called with how a service went: '' when it worked, else why it did not."""


class FallbackTransport:
    """Sends with the primary transport; where a server breaks HTTP, tries the fallback and remembers if it worked."""

    def __init__(
        self, primary: Transport, fallback: Transport | None, clock: Clock, report: Report | None = None
    ) -> None:
        """`fallback` is None where its extra is not installed; `report` is then called when it would have been used."""
        self._primary = primary
        self._fallback = fallback
        self._clock = clock
        self._report = report
        self._needs_fallback_until: dict[str, datetime] = {}

    async def send(self, request: WireRequest, before_send: BeforeSend) -> WireResponse | WireFailure:
        """Send one request; a second one is sent only when the first was answered with something that is not HTTP."""
        if self._needs_fallback_until and self._fallback is not None and self._needs_fallback(origin_of(request.url)):
            return await self._fallback.send(request, before_send)
        answer = await self._primary.send(request, before_send)
        return await self._retry_with_fallback(request, before_send, answer) if breaks_http(answer) else answer

    async def close(self) -> None:
        """Close both transports."""
        await self._primary.close()
        if self._fallback is not None:
            await self._fallback.close()

    async def _retry_with_fallback(
        self, request: WireRequest, before_send: BeforeSend, primary: WireResponse | WireFailure
    ) -> WireResponse | WireFailure:
        """Return what the fallback gets, if it gets more than the primary did."""
        if self._fallback is None:
            await self._report_curl(f"{origin_of(request.url)} breaks HTTP, and the extra `curl` is not installed")
            return primary
        fallback = await self._fallback.send(request, before_send)
        if isinstance(fallback, WireFailure) or fallback.cut is not None:
            return primary if isinstance(primary, WireResponse) else fallback
        self._remember(origin_of(request.url))
        await self._report_curl("")
        return fallback

    async def _report_curl(self, trouble: str) -> None:
        if self._report is not None:
            await self._report(Service.CURL, trouble)

    def _needs_fallback(self, origin: str) -> bool:
        until = self._needs_fallback_until.get(origin)
        return until is not None and self._clock.now() < until

    def _remember(self, origin: str) -> None:
        if len(self._needs_fallback_until) >= MOST_REMEMBERED_ORIGINS:
            del self._needs_fallback_until[next(iter(self._needs_fallback_until))]
        self._needs_fallback_until[origin] = self._clock.now() + REMEMBERED_FOR


def breaks_http(answer: WireResponse | WireFailure) -> bool:
    """Whether the server broke HTTP, as opposed to being down, unreachable or unwilling."""
    if isinstance(answer, WireFailure):
        return answer.failure is Failure.SERVER_ERROR
    return answer.is_garbled or answer.status_code in WANTS_ANOTHER_HTTP
