"""The housing market without sockets, at the clock's moment."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

from tidemill.core.failure import Failure
from tidemill.lab.standins.talk import Call
from tidemill.pipeline.ports import Clock, WireFailure, WireRequest, WireResponse
from tidemill.verticals.listings.lab.sites import APIFY, HomesSites
from tidemill.verticals.listings.lab.world import SITES, HomesWorld, MarketFault

_TAKES = timedelta(milliseconds=150)


class HomesTransport:
    """Sends requests to the world instead of to the web; `visits` counts what reached whom."""

    def __init__(self, world: HomesWorld, clock: Clock, troubles: Sequence[MarketFault] = ()) -> None:
        """Ask `world`, in the time of `clock`, with these faults."""
        self._clock = clock
        self._sites = HomesSites(world, clock.now, troubles)
        self.visits: dict[str, int] = {}

    @property
    def met(self) -> dict[str, int]:
        """The faults that were run into, counted by kind."""
        return self._sites.met

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Send one request and answer with what came."""
        parts = urlsplit(request.url)
        host = parts.netloc
        await before_send()
        now = self._clock.now()
        if self._sites.is_down(host):
            await self._clock.sleep_until(now + request.timeout)
            return WireFailure(failure=Failure.TIMED_OUT, detail="no answer came in time")
        self.visits[host] = self.visits.get(host, 0) + 1
        await self._clock.sleep_until(now + _TAKES)
        if host not in {*SITES, APIFY}:
            return WireFailure(failure=Failure.DNS_FAILED, detail=f"the lab has no site at {host}")
        headers = {name.lower(): value for name, value in request.headers.items()}
        call = Call(request.method, parts.path, dict(parse_qsl(parts.query)), headers, request.content)
        reply = await self._sites.answer(host, call)
        told = {name.lower(): value for name, value in reply.headers.items()}
        return WireResponse(status_code=reply.status, headers=told, body=reply.body)

    async def close(self) -> None:
        """There is nothing to let go of."""
