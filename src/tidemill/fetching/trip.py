"""One fetch under way: each address judged, paced and asked in turn, until one is not a redirect."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.gates import GateAnswer
from tidemill.core.pacing import Departure, OwnPaces, Pace, pace_key, with_crawl_delay
from tidemill.core.urls import BadUrl, hostname, join
from tidemill.fetching.decoding import decode
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.host_pacer import STAY, HostPacer, Pass
from tidemill.fetching.robots import Allowed, Disallowed, Robots, Unavailable
from tidemill.fetching.stops import NotSent, lease_gone, stopped
from tidemill.fetching.telling import charge_said, guard_said, pace_said, robots_said
from tidemill.fetching.translate import REDIRECTS
from tidemill.pipeline.ports import Clock, FetchRequest, StoreError, Transport, WireFailure, WireRequest, WireResponse

MOST_REDIRECTS = 10
LONGEST_FOR_ROBOTS = timedelta(seconds=15)
NO_TIME = timedelta(0)
LEDGER_AWAY = timedelta(seconds=5)
LONG_WAIT = timedelta(seconds=1)
"""A request whose moment was so far away asks once more when it has come."""
FRESH = timedelta(milliseconds=25)
"""What a gate said so short a while ago still holds, if nothing was waited for since; else it is asked again."""

OUR_OWN_DOING = frozenset(
    {Failure.HELD_BACK, Failure.WORKER_DIED, Failure.SOURCE_OFF, Failure.TARGET_OFF, Failure.NOT_COMPLIANT}
)
"""Why a request was never sent; it says nothing about whoever would have got it."""

_SAFE_ELSEWHERE = frozenset(
    {"accept", "accept-encoding", "accept-language", "if-none-match", "if-modified-since", "user-agent"}
)


class Landing(msgspec.Struct, frozen=True):
    """Where a trip ended, and with what: a response, or the reason why there is none."""

    url: str
    response: WireResponse | None = None
    failure: Failure | None = None
    detail: str = ""
    retry_at: datetime | None = None


class RequestTerms(NamedTuple):
    """Whose pace a request counts against, which pace that is, what it may say, and what the ledger knows of it."""

    host: str
    pace: Pace
    headers: Mapping[str, str]
    claim: Departure | None
    is_visit: bool


class Gates(msgspec.Struct, frozen=True):
    """What every request passes on its way out; `plain` brings robots.txt where `transport` is no plain one."""

    clock: Clock
    guard: AddressGuard
    robots: Robots
    gate: HostPacer
    transport: Transport
    plain: Transport | None = None
    own_paces: OwnPaces = {}

    @property
    def is_rendering(self) -> bool:
        """Whether pages are shown in a browser, and so ask for more by themselves."""
        return self.plain is not None

    def for_robots(self) -> "Gates":
        """The same, with the plain transport: nobody needs a browser to read a robots.txt."""
        return self if self.plain is None else msgspec.structs.replace(self, transport=self.plain)


class Trip:
    """One fetch: what it may cost, and what it has cost so far."""

    __slots__ = (
        "_asked_at",
        "_claim",
        "_gates",
        "_has_waited",
        "_headers",
        "_home",
        "_request",
        "crawl_delay",
        "requested_at",
        "requests",
        "took",
    )

    def __init__(self, gates: Gates, request: FetchRequest, headers: Mapping[str, str], home: str) -> None:
        """Fetch on the terms of `request`, with these headers; `home` is its address, normalised."""
        self._gates = gates
        self._request = request
        self._headers = headers
        self._home = home
        self._asked_at = gates.clock.now()
        self._has_waited = False
        booked_until, interval = request.booked_until, request.pace.interval
        self._claim = (
            Departure(booked_until, booked_until + interval) if booked_until is not None and interval else None
        )
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
                self._tell(guard_said(href, refusal))
                return Landing(href, failure=Failure.ADDRESS_REFUSED, detail=refusal)
            if obeys_robots and (bar := await self._barred_by_robots(href)) is not None:
                return bar
            answer = await self._send(href, max_bytes, time_left - self.took, obeys_robots=obeys_robots)
            if isinstance(answer, WireFailure):
                return Landing(href, failure=answer.failure, detail=answer.detail, retry_at=answer.retry_at)
            location = answer.headers.get("location") if answer.status_code in REDIRECTS else None
            if location is None:
                return Landing(href, answer)
            try:
                href = join(href, location).partition("#")[0]
            except BadUrl as error:
                return Landing(href, failure=Failure.BAD_URL, detail=f"redirected to nowhere: {error}")
        return Landing(href, failure=Failure.TOO_MANY_REDIRECTS, detail=f"more than {MOST_REDIRECTS} redirects")

    async def _barred_by_robots(self, href: str) -> Landing | None:
        """Where the trip ends, if robots.txt does not let us on; else its Crawl-delay is noted."""
        robots = self._gates.robots
        try:
            verdict = robots.recall(href)
            if verdict is None:
                self._has_waited = True
                verdict = await robots.ask(href, self._get_robots)
        except NotSent as stop:
            return Landing(href, failure=stop.failure, detail=str(stop), retry_at=stop.until)
        if self._request.on_gate_answer is not None:
            self._tell(robots_said(href, verdict))
        if not isinstance(verdict, Allowed):
            return _barred(href, verdict)
        self.crawl_delay = verdict.crawl_delay
        return None

    async def _get_robots(self, href: str, max_bytes: int) -> WireResponse | WireFailure:
        """A robots.txt, on the same terms but in a time of its own."""
        quiet = msgspec.structs.replace(self._request, on_gate_answer=None)
        errand = Trip(self._gates.for_robots(), quiet, self._headers, self._home)
        time_left = min(self._request.timeout, LONGEST_FOR_ROBOTS)
        landing = await errand.follow(href, max_bytes, time_left, obeys_robots=False)
        self.requests += errand.requests
        response = landing.response
        if landing.failure in OUR_OWN_DOING:  # nobody was asked, so that nothing is known about the robots.txt
            raise NotSent(landing.failure, landing.detail, landing.retry_at)
        if response is None:
            return WireFailure(failure=landing.failure or Failure.CONNECTION_LOST, detail=landing.detail)
        decoded = decode(response.body, response.headers.get("content-encoding", ""), max_bytes)
        return msgspec.structs.replace(response, body=decoded.content, cut=response.cut or decoded.cut)

    async def _send(
        self, href: str, max_bytes: int, time_left: timedelta, *, obeys_robots: bool
    ) -> WireResponse | WireFailure:
        """Send one request when its host may be asked; what keeps it from leaving is a value too."""
        if time_left <= NO_TIME:
            return WireFailure(failure=Failure.TIMED_OUT, detail="the redirects took all the time there was")
        try:
            terms = self._at_home() if href is self._home else await self._elsewhere(href)
            leave = self._gates.gate.enter_now(terms.host, terms.pace, terms.claim, is_visit=terms.is_visit)
            leave = leave or await self._enter(terms, time_left)
            if self._request.on_gate_answer is not None:
                self._tell(pace_said(terms.host, terms.pace, leave.entered_at - self._asked_at))
                self._tell(guard_said(href, ""))
            request = WireRequest(url=href, headers=terms.headers, timeout=time_left, max_bytes=max_bytes)
            if obeys_robots and self._gates.is_rendering:
                request = msgspec.structs.replace(request, allows_subrequest=self._gates.robots.lets)
            return await self._sent(request, leave, obeys_robots=obeys_robots)
        except NotSent as stop:
            return stop.told()
        except StoreError as trouble:
            return self._without_ledger(trouble)

    async def _sent(self, request: WireRequest, leave: Pass, *, obeys_robots: bool) -> WireResponse | WireFailure:
        depart = self._departing(leave, request.url, obeys_robots=obeys_robots)
        try:
            answer = await self._gates.transport.send(request, depart)
            if answer.subrequest_hosts:
                await self._charge(answer.subrequest_hosts, request.url, leave)
            return answer
        finally:
            leave.give_back()
            self.requests += leave.departures
            self.requested_at = leave.departed_at
            self.took += self._gates.clock.now() - leave.entered_at
            if leave.is_visit or leave.lease is not None:
                await self._say_goodbye(leave)

    async def _charge(self, beside: Sequence[str], url: str, leave: Pass) -> None:
        """Count what the page asked for by itself; a host that nobody scrapes has no pace that it could exceed."""
        gate, own = self._gates.gate, self._gates.own_paces
        home = pace_key(hostname(url), own)
        for key, requests in Counter(pace_key(host, own) for host in beside).items():
            name, pace = (leave.host.name, leave.pace) if key == home else (key, own.get(key))
            with suppress(StoreError):  # nobody is let in while the ledger is away, whatever is on its tabs
                pace = pace or await gate.pace_of(name)
                if pace is not None:
                    await gate.charge(name, pace, requests)
                    self._tell(charge_said(name, pace, requests))
        self.requests += len(beside)

    async def _enter(self, terms: RequestTerms, time_left: timedelta) -> Pass:
        """Wait for a place; what the gates said before is old by then."""
        self._has_waited = True
        stay = time_left + STAY
        return await self._gates.gate.enter(terms.host, terms.pace, terms.claim, is_visit=terms.is_visit, stay=stay)

    async def _say_goodbye(self, leave: Pass) -> None:
        """Free the place that others saw taken; if they cannot be told, it frees itself after a while."""
        with suppress(StoreError):
            await self._gates.gate.left(leave)

    def _without_ledger(self, trouble: StoreError) -> WireFailure:
        """Nobody knows who asked the host last, so nobody asks it now (fail closed)."""
        until = self._gates.clock.now() + LEDGER_AWAY
        return WireFailure(failure=Failure.HELD_BACK, detail=f"the ledger cannot be asked: {trouble}", retry_at=until)

    def _departing(self, leave: Pass, href: str, *, obeys_robots: bool) -> Callable[[], Awaitable[None]]:
        """What the transport awaits just before a request goes out: its moment, and the gates once more."""
        is_ours, recheck, gates = self._request.holds_lease, self._request.recheck, self._gates

        async def ask_again() -> None:
            verdict = gates.robots.recall(href) if obeys_robots else None
            if isinstance(verdict, Disallowed):
                raise stopped(robots_said(href, verdict))
            if recheck is not None and (against := await recheck()) is not None:
                raise stopped(against)

        async def depart() -> None:
            """Ask the gates before the moment is charged: asking takes time, and a request must leave on its moment."""
            began = gates.clock.now()
            if self._has_waited or began - self._asked_at > FRESH:
                await ask_again()
            self._has_waited = True  # the next one leaves after an answer
            await leave.depart()
            if leave.departed_at - began > LONG_WAIT:
                await ask_again()
            if is_ours is not None and not is_ours():
                raise lease_gone()

        return depart

    def _tell(self, answer: GateAnswer) -> None:
        if self._request.on_gate_answer is not None:
            self._request.on_gate_answer(answer)

    def _at_home(self) -> RequestTerms:
        """The terms of nearly every request."""
        request, own = self._request, self._gates.own_paces
        if own and (name := hostname(self._home)) in own and name != request.host:
            return self._visit_to(name, own[name])  # whoever sent us did not know that it is counted by itself
        pace = with_crawl_delay(request.pace, self.crawl_delay)
        return RequestTerms(request.host, pace, self._headers, self._claim, request.booked_until is None)

    def _visit_to(self, host: str, pace: Pace) -> RequestTerms:
        """The terms of a request to a host that no claim has brought us to."""
        return RequestTerms(host, with_crawl_delay(pace, self.crawl_delay), self._headers, None, is_visit=True)

    async def _elsewhere(self, href: str) -> RequestTerms:
        """The terms of a robots.txt, or of an address that a redirect led to."""
        request, own = self._request, self._gates.own_paces
        host, home = hostname(href), hostname(self._home)
        headers = self._headers if host == home else _discreet(self._headers)
        key, home_key = pace_key(host, own), home if request.host == home else pace_key(home, own)
        if host == home or key in {request.host, home_key}:
            return self._at_home()._replace(headers=headers)
        known = own.get(key) or await self._gates.gate.pace_of(key)
        pace = known or max(request.pace, Pace(), key=lambda each: each.interval)
        return self._visit_to(key, pace)._replace(headers=headers)


def _barred(href: str, verdict: Disallowed | Unavailable) -> Landing:
    if isinstance(verdict, Disallowed):
        return Landing(href, failure=Failure.ROBOTS_DISALLOWED, detail=f"robots.txt says {verdict.rule!r}")
    detail = f"robots.txt is unknown: {verdict.detail}"
    return Landing(href, failure=verdict.failure, detail=detail, retry_at=verdict.until)


def _discreet(headers: Mapping[str, str]) -> dict[str, str]:
    """What another host may be told: nothing that a source's own settings say."""
    return {name: value for name, value in headers.items() if name.lower() in _SAFE_ELSEWHERE}
