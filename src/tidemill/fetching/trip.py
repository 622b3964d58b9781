"""One fetch under way: each address judged, paced and asked in turn, until one is not a redirect."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace, slower
from tidemill.core.urls import BadUrl, hostname, join, registrable_domain
from tidemill.fetching.decoding import decode
from tidemill.fetching.gate import Gate, Pass
from tidemill.fetching.guard import Guard
from tidemill.fetching.robots import Allowed, Disallowed, Robots, Unavailable
from tidemill.fetching.translate import REDIRECTS
from tidemill.pipeline.ports import Clock, FetchRequest, Transport, WireFailure, WireRequest, WireResponse

MOST_REDIRECTS = 10
LONGEST_FOR_ROBOTS = timedelta(seconds=15)
NO_TIME = timedelta(0)

_SAFE_ELSEWHERE = frozenset(
    {"accept", "accept-encoding", "accept-language", "if-none-match", "if-modified-since", "user-agent"}
)


class LeaseGone(Exception):
    """The job is somebody else's by now; nothing may be asked for it."""


class Landing(msgspec.Struct, frozen=True):
    """Where a trip ended, and with what: a response, or the reason why there is none."""

    url: str
    response: WireResponse | None = None
    failure: Failure | None = None
    detail: str = ""
    retry_at: datetime | None = None


class Gates(msgspec.Struct, frozen=True):
    """What every request passes on its way out."""

    clock: Clock
    guard: Guard
    robots: Robots
    gate: Gate
    transport: Transport


class Trip:
    """One fetch: what it may cost, and what it has cost so far."""

    __slots__ = ("_gates", "_headers", "_home", "_request", "crawl_delay", "requested_at", "requests", "took")

    def __init__(self, gates: Gates, request: FetchRequest, headers: Mapping[str, str], home: str) -> None:
        """Fetch on the terms of `request`, with these headers; `home` is its address, normalised."""
        self._gates = gates
        self._request = request
        self._headers = headers
        self._home = home
        self.requests = 0
        self.requested_at: datetime | None = None
        self.took = NO_TIME
        self.crawl_delay: timedelta | None = None

    async def follow(self, href: str, max_bytes: int, time_left: timedelta, *, obeys_robots: bool) -> Landing:
        """Go from `href` through its redirects to where they end, within a size and a time for all of them."""
        gates = self._gates
        for _ in range(MOST_REDIRECTS + 1):
            refusal = gates.guard.refusal(href)
            if refusal:
                return Landing(href, failure=Failure.ADDRESS_REFUSED, detail=refusal)
            if obeys_robots:
                verdict = gates.robots.recall(href) or await gates.robots.ask(href, self._get_robots)
                if not isinstance(verdict, Allowed):
                    return _barred(href, verdict)
                self.crawl_delay = verdict.crawl_delay
            answer = await self._send(href, max_bytes, time_left - self.took)
            if isinstance(answer, WireFailure):
                return Landing(href, failure=answer.failure, detail=answer.detail)
            location = answer.headers.get("location") if answer.status_code in REDIRECTS else None
            if location is None:
                return Landing(href, answer)
            try:
                href = join(href, location).partition("#")[0]
            except BadUrl as error:
                return Landing(href, failure=Failure.BAD_URL, detail=f"redirected to nowhere: {error}")
        return Landing(href, failure=Failure.TOO_MANY_REDIRECTS, detail=f"more than {MOST_REDIRECTS} redirects")

    async def _get_robots(self, href: str, max_bytes: int) -> WireResponse | WireFailure:
        """A robots.txt, on the same terms but in a time of its own."""
        errand = Trip(self._gates, self._request, self._headers, self._home)
        time_left = min(self._request.timeout, LONGEST_FOR_ROBOTS)
        landing = await errand.follow(href, max_bytes, time_left, obeys_robots=False)
        self.requests += errand.requests
        response = landing.response
        if response is None:
            return WireFailure(failure=landing.failure or Failure.CONNECTION_LOST, detail=landing.detail)
        decoded = decode(response.body, response.headers.get("content-encoding", ""), max_bytes)
        return msgspec.structs.replace(response, body=decoded.content, cut=response.cut or decoded.cut)

    async def _send(self, href: str, max_bytes: int, time_left: timedelta) -> WireResponse | WireFailure:
        if time_left <= NO_TIME:
            return WireFailure(failure=Failure.TIMED_OUT, detail="the redirects took all the time there was")
        host, pace, headers = self._terms(href)
        request = WireRequest(url=href, headers=headers, timeout=time_left, max_bytes=max_bytes)
        gates = self._gates
        tab = self._request.tab if host == self._request.host else None
        leave = gates.gate.enter_now(host, pace, tab) or await gates.gate.enter(host, pace, tab)
        try:
            return await gates.transport.send(request, self._departing(leave))
        except LeaseGone:
            return WireFailure(failure=Failure.WORKER_DIED, detail="the worker was away for longer than its lease")
        finally:
            leave.give_back()
            self.requests += leave.departures
            self.requested_at = leave.departed_at
            self.took += gates.clock.now() - leave.entered_at

    def _departing(self, leave: Pass) -> Callable[[], Awaitable[None]]:
        """What the transport awaits just before a request goes out."""
        is_ours = self._request.is_ours
        if is_ours is None:
            return leave.depart

        async def depart() -> None:
            await leave.depart()
            if not is_ours():
                raise LeaseGone

        return depart

    def _terms(self, href: str) -> tuple[str, Pace, Mapping[str, str]]:
        """Whose pace a request counts against, which pace that is, and what it may say."""
        request = self._request
        if href is self._home:  # nearly every request
            return request.host, slower(request.pace, self.crawl_delay), self._headers
        host, home = hostname(href), hostname(self._home)
        headers = self._headers if host == home else _discreet(self._headers)
        registrable = registrable_domain(host)
        if host == home or registrable in {request.host, registrable_domain(home)}:
            return request.host, slower(request.pace, self.crawl_delay), headers
        pace = self._gates.gate.pace_of(registrable) or max(request.pace, Pace(), key=lambda each: each.interval)
        return registrable, slower(pace, self.crawl_delay), headers


def _barred(href: str, verdict: Disallowed | Unavailable) -> Landing:
    if isinstance(verdict, Disallowed):
        return Landing(href, failure=Failure.ROBOTS_DISALLOWED, detail=f"robots.txt says {verdict.rule!r}")
    detail = f"robots.txt is unknown: {verdict.detail}"
    return Landing(href, failure=verdict.failure, detail=detail, retry_at=verdict.until)


def _discreet(headers: Mapping[str, str]) -> dict[str, str]:
    """What another host may be told: nothing that a source's own settings say."""
    return {name: value for name, value in headers.items() if name.lower() in _SAFE_ELSEWHERE}
