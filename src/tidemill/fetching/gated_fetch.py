"""One fetch through the gates: each address is judged, paced and requested in turn, until one is not a redirect."""

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
from tidemill.fetching.gate_answers import charge_answer, guard_answer, pace_answer, robots_answer
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.host_pacer import PLACE_TTL, AdmittedRequest, HostPacer
from tidemill.fetching.not_sent import NotSent, lease_lost, refused_by_gate
from tidemill.fetching.robots import Allowed, Disallowed, Robots, Unavailable
from tidemill.fetching.translate import REDIRECTS
from tidemill.pipeline.ports import Clock, FetchRequest, StoreError, Transport, WireFailure, WireRequest, WireResponse

MOST_REDIRECTS = 10
LONGEST_FOR_ROBOTS = timedelta(seconds=15)
NO_TIME = timedelta(0)
LEDGER_RETRY = timedelta(seconds=5)
LONG_WAIT = timedelta(seconds=1)
"""A request that waited longer than this for its pace asks the gates once more before it is sent."""
ANSWER_VALID_FOR = timedelta(milliseconds=25)
"""A gate's answer younger than this still holds if nothing was waited for since; else the gate is asked again."""

NEVER_SENT = frozenset(
    {Failure.HELD_BACK, Failure.WORKER_DIED, Failure.SOURCE_OFF, Failure.TARGET_OFF, Failure.NOT_COMPLIANT}
)
"""Reasons for which a request was never sent; they say nothing about the host."""

_SAFE_FOR_OTHER_HOSTS = frozenset(
    {"accept", "accept-encoding", "accept-language", "if-none-match", "if-modified-since", "user-agent"}
)


class RedirectResult(msgspec.Struct, frozen=True):
    """What following an address's redirects ended with: a response, or the reason why there is none."""

    url: str
    response: WireResponse | None = None
    failure: Failure | None = None
    detail: str = ""
    retry_at: datetime | None = None


class RequestTerms(NamedTuple):
    """The host and pace that a request counts against, its headers, and the departure that the ledger booked for it.

    `is_visit` says that the job was not claimed for this host, so that the ledger has booked nothing there.
    """

    host: str
    pace: Pace
    headers: Mapping[str, str]
    claim: Departure | None
    is_visit: bool


class Gates(msgspec.Struct, frozen=True):
    """What every request passes before it is sent; `plain_transport` gets robots.txt where `transport` is a browser."""

    clock: Clock
    guard: AddressGuard
    robots: Robots
    pacer: HostPacer
    transport: Transport
    plain_transport: Transport | None = None
    own_paces: OwnPaces = {}

    @property
    def is_rendering(self) -> bool:
        """Whether pages are rendered in a browser and may send requests of their own."""
        return self.plain_transport is not None

    def for_robots(self) -> "Gates":
        """Return the same gates with the plain transport: robots.txt needs no browser."""
        return self if self.plain_transport is None else msgspec.structs.replace(self, transport=self.plain_transport)


class GatedFetch:
    """One fetch with its redirects and robots.txt, and the count and duration of its requests so far."""

    __slots__ = (
        "_checked_at",
        "_claim",
        "_gates",
        "_headers",
        "_must_recheck",
        "_request",
        "_start_url",
        "crawl_delay",
        "duration",
        "requested_at",
        "requests",
        "waited",
    )

    def __init__(self, gates: Gates, request: FetchRequest, headers: Mapping[str, str], start_url: str) -> None:
        """Fetch on the terms of `request`, with these headers; `start_url` is its address, normalised."""
        self._gates = gates
        self._request = request
        self._headers = headers
        self._start_url = start_url
        self._checked_at = gates.clock.now()
        self._must_recheck = False
        booked_until, interval = request.booked_until, request.pace.interval
        self._claim = (
            Departure(booked_until, booked_until + interval) if booked_until is not None and interval else None
        )
        self.requests = 0
        self.requested_at: datetime | None = None
        self.duration = NO_TIME
        self.waited = NO_TIME
        self.crawl_delay: timedelta | None = None

    async def follow(self, href: str, max_bytes: int, time_left: timedelta, *, obeys_robots: bool) -> RedirectResult:
        """Follow `href` through its redirects, within one size and one time limit for all of them."""
        gates = self._gates
        for _ in range(MOST_REDIRECTS + 1):
            refusal = gates.guard.reason_to_refuse(href)
            if refusal:
                self._report(guard_answer(href, refusal))
                return RedirectResult(href, failure=Failure.ADDRESS_REFUSED, detail=refusal)
            if obeys_robots and (refused := await self._robots_refusal(href)) is not None:
                return refused
            answer = await self._send(href, max_bytes, time_left - self.duration, obeys_robots=obeys_robots)
            if isinstance(answer, WireFailure):
                return RedirectResult(href, failure=answer.failure, detail=answer.detail, retry_at=answer.retry_at)
            location = answer.headers.get("location") if answer.status_code in REDIRECTS else None
            if location is None:
                return RedirectResult(href, answer)
            try:
                href = join(href, location).partition("#")[0]
            except BadUrl as error:
                return RedirectResult(href, failure=Failure.BAD_URL, detail=f"redirected to nowhere: {error}")
        return RedirectResult(href, failure=Failure.TOO_MANY_REDIRECTS, detail=f"more than {MOST_REDIRECTS} redirects")

    async def _robots_refusal(self, href: str) -> RedirectResult | None:
        """Return the result that ends the fetch if robots.txt refuses; else note its Crawl-delay and return None."""
        robots = self._gates.robots
        try:
            verdict = robots.cached_verdict(href)
            if verdict is None:
                self._must_recheck = True
                verdict = await robots.verdict_for(href, self._get_robots)
        except NotSent as not_sent:
            return RedirectResult(href, failure=not_sent.failure, detail=str(not_sent), retry_at=not_sent.until)
        if self._request.on_gate_answer is not None:
            self._report(robots_answer(href, verdict))
        if not isinstance(verdict, Allowed):
            return _refused_by_robots(href, verdict)
        self.crawl_delay = verdict.crawl_delay
        return None

    async def _get_robots(self, href: str, max_bytes: int) -> WireResponse | WireFailure:
        """Fetch a robots.txt under the same terms, with a time limit of its own."""
        unreported = msgspec.structs.replace(self._request, on_gate_answer=None)
        robots_fetch = GatedFetch(self._gates.for_robots(), unreported, self._headers, self._start_url)
        time_left = min(self._request.timeout, LONGEST_FOR_ROBOTS)
        result = await robots_fetch.follow(href, max_bytes, time_left, obeys_robots=False)
        self.requests += robots_fetch.requests
        response = result.response
        if result.failure in NEVER_SENT:  # not sent, so nothing is known about the robots.txt
            raise NotSent(result.failure, result.detail, result.retry_at)
        if response is None:
            return WireFailure(failure=result.failure or Failure.CONNECTION_LOST, detail=result.detail)
        decoded = decode(response.body, response.headers.get("content-encoding", ""), max_bytes)
        return msgspec.structs.replace(response, body=decoded.content, cut=response.cut or decoded.cut)

    async def _send(
        self, href: str, max_bytes: int, time_left: timedelta, *, obeys_robots: bool
    ) -> WireResponse | WireFailure:
        """Send one request once its host's pace admits it; return the reason if it may not be sent."""
        if time_left <= NO_TIME:
            return WireFailure(failure=Failure.TIMED_OUT, detail="the redirects took all the time there was")
        try:
            terms = self._usual_terms() if href is self._start_url else await self._terms_for(href)
            admitted = self._gates.pacer.admit_now(terms.host, terms.pace, terms.claim, is_visit=terms.is_visit)
            admitted = admitted or await self._wait_for_place(terms, time_left)
            if self._request.on_gate_answer is not None:
                self._report(pace_answer(terms.host, terms.pace, admitted.admitted_at - self._checked_at))
                self._report(guard_answer(href, ""))
            request = WireRequest(url=href, headers=terms.headers, timeout=time_left, max_bytes=max_bytes)
            if obeys_robots and self._gates.is_rendering:
                request = msgspec.structs.replace(request, allows_subrequest=self._gates.robots.allows_subrequest)
            return await self._send_admitted(request, admitted, obeys_robots=obeys_robots)
        except NotSent as not_sent:
            return not_sent.as_failure()
        except StoreError as trouble:
            return self._ledger_unavailable(trouble)

    async def _send_admitted(
        self, request: WireRequest, admitted: AdmittedRequest, *, obeys_robots: bool
    ) -> WireResponse | WireFailure:
        before_send = self._before_send(admitted, request.url, obeys_robots=obeys_robots)
        try:
            answer = await self._gates.transport.send(request, before_send)
            if answer.subrequest_hosts:
                await self._charge_subrequests(answer.subrequest_hosts, request.url, admitted)
            return answer
        finally:
            admitted.release()
            self.requests += admitted.times_sent
            self.requested_at = admitted.sent_at
            self.duration += self._gates.clock.now() - admitted.admitted_at
            if admitted.is_visit or admitted.permit is not None:
                await self._release_shared(admitted)

    async def _charge_subrequests(self, hosts: Sequence[str], url: str, admitted: AdmittedRequest) -> None:
        """Count the requests that the page made by itself against each host that has a pace."""
        pacer, own = self._gates.pacer, self._gates.own_paces
        page_key = pace_key(hostname(url), own)
        for key, requests in Counter(pace_key(host, own) for host in hosts).items():
            name, pace = (admitted.host.name, admitted.pace) if key == page_key else (key, own.get(key))
            with suppress(StoreError):  # nobody is admitted while the ledger is away
                pace = pace or await pacer.pace_of(name)
                if pace is not None:
                    await pacer.charge(name, pace, requests)
                    self._report(charge_answer(name, pace, requests))
        self.requests += len(hosts)

    async def _wait_for_place(self, terms: RequestTerms, time_left: timedelta) -> AdmittedRequest:
        """Wait until the host's pace admits the request; the gates must be asked again after that."""
        self._must_recheck = True
        ttl = time_left + PLACE_TTL
        began, pacer = self._gates.clock.now(), self._gates.pacer
        admitted = await pacer.admit(terms.host, terms.pace, terms.claim, is_visit=terms.is_visit, ttl=ttl)
        self.waited += self._gates.clock.now() - began
        return admitted

    async def _release_shared(self, admitted: AdmittedRequest) -> None:
        """Free the place that other processes count; if the store is away, the place expires by itself."""
        with suppress(StoreError):
            await self._gates.pacer.announce_end(admitted)

    def _ledger_unavailable(self, trouble: StoreError) -> WireFailure:
        """Hold the request back: without the ledger nobody knows when the host was last asked (fail closed)."""
        until = self._gates.clock.now() + LEDGER_RETRY
        return WireFailure(failure=Failure.HELD_BACK, detail=f"the ledger cannot be asked: {trouble}", retry_at=until)

    def _before_send(
        self, admitted: AdmittedRequest, href: str, *, obeys_robots: bool
    ) -> Callable[[], Awaitable[None]]:
        """Return what the transport awaits just before sending: it waits for the pace and asks the gates once more."""
        holds_lease, recheck, gates = self._request.holds_lease, self._request.recheck, self._gates

        async def recheck_gates() -> None:
            verdict = gates.robots.cached_verdict(href) if obeys_robots else None
            if isinstance(verdict, Disallowed):
                raise refused_by_gate(robots_answer(href, verdict))
            if recheck is not None and (against := await recheck()) is not None:
                raise refused_by_gate(against)

        async def before_send() -> None:
            """Ask the gates before waiting for the pace: asking takes time, and the pace counts from the sending."""
            began = gates.clock.now()
            if self._must_recheck or began - self._checked_at > ANSWER_VALID_FOR:
                await recheck_gates()
            self._must_recheck = True  # the next one leaves after an answer
            asked = gates.clock.now()
            await admitted.wait_to_send()
            self.waited += max(NO_TIME, admitted.sent_at - asked)
            if admitted.sent_at - began > LONG_WAIT:
                await recheck_gates()
            if holds_lease is not None and not holds_lease():
                raise lease_lost()

        return before_send

    def _report(self, answer: GateAnswer) -> None:
        if self._request.on_gate_answer is not None:
            self._request.on_gate_answer(answer)

    def _usual_terms(self) -> RequestTerms:
        """Return the terms of nearly every request: those of the job's own host."""
        request, own = self._request, self._gates.own_paces
        if own and (name := hostname(self._start_url)) in own and name != request.host:
            return self._visit_terms(name, own[name])  # the job was claimed under the registrable domain
        pace = with_crawl_delay(request.pace, self.crawl_delay)
        return RequestTerms(request.host, pace, self._headers, self._claim, request.booked_until is None)

    def _visit_terms(self, host: str, pace: Pace) -> RequestTerms:
        """Return the terms of a request to a host that the job was not claimed for."""
        return RequestTerms(host, with_crawl_delay(pace, self.crawl_delay), self._headers, None, is_visit=True)

    async def _terms_for(self, href: str) -> RequestTerms:
        """Return the terms of a robots.txt or of an address that a redirect led to."""
        request, own = self._request, self._gates.own_paces
        host, start_host = hostname(href), hostname(self._start_url)
        headers = self._headers if host == start_host else _headers_for_other_hosts(self._headers)
        start_key = start_host if request.host == start_host else pace_key(start_host, own)
        key = pace_key(host, own)
        if host == start_host or key in {request.host, start_key}:
            return self._usual_terms()._replace(headers=headers)
        known = own.get(key) or await self._gates.pacer.pace_of(key)
        pace = known or max(request.pace, Pace(), key=lambda each: each.interval)
        return self._visit_terms(key, pace)._replace(headers=headers)


def _refused_by_robots(href: str, verdict: Disallowed | Unavailable) -> RedirectResult:
    if isinstance(verdict, Disallowed):
        return RedirectResult(href, failure=Failure.ROBOTS_DISALLOWED, detail=f"robots.txt says {verdict.rule!r}")
    detail = f"robots.txt is unknown: {verdict.detail}"
    return RedirectResult(href, failure=verdict.failure, detail=detail, retry_at=verdict.until)


def _headers_for_other_hosts(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that another host may see: none that come from the source's own settings."""
    return {name: value for name, value in headers.items() if name.lower() in _SAFE_FOR_OTHER_HOSTS}
