"""The ports of the stages; `bootstrap` supplies the implementations."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.gates import GateAnswer
from tidemill.core.pacing import Departure, Pace
from tidemill.core.services.degradation import Service, ServiceState, ServiceStatus
from tidemill.core.target import Target


class StoreError(Exception):
    """The database cannot do what was asked; the message says how to fix it."""


class StoreLost(StoreError):
    """The database is temporarily unavailable: unreachable, locked or full. The operation may be retried."""


class StoreBusy(StoreLost):
    """The database is there and has no room just now: a lock, a connection or memory. Try again soon."""


class StoreClosedToUs(StoreLost):
    """The database answers and does not let us in. A person must act, so whoever starts does not wait for it."""


class StoreConflict(StoreLost):
    """The database undid this transaction in favour of another one. Try it again at once."""


class Clock(Protocol):
    """The only source of time; real in production, virtual in the lab."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        ...

    async def sleep_until(self, moment: datetime) -> None:
        """Sleep until `moment`; return at once if it has passed."""
        ...


class Dice(Protocol):
    """The only source of randomness."""

    def random(self) -> float:
        """Return a number from 0 up to, not including, 1."""
        ...


class FetchStatus(StrEnum):
    """How a fetch ended."""

    OK = "ok"
    ERROR = "error"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    ROBOTS_BLOCKED = "robots_blocked"


class OpenPage(msgspec.Struct, frozen=True):
    """The name under which a browser keeps a page open between fetches; another `generation` opens it anew."""

    name: str
    generation: int = 0


class FetchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One page to fetch, and on what terms.

    `host` is the registrable domain whose `pace` every request counts against, redirects and robots.txt
    included; `booked_until` is the ledger's booking of the host, for a process that has sent it no request yet.
    `etag` and `last_modified` come from the last good page and make the request conditional. `holds_lease` is called
    just before a request is sent: a worker that was frozen for longer than its lease must not fetch for a job that it
    has lost. `recheck` is called then too, if the gates may have changed since the claim; it returns the gate that
    blocks, or None. `on_gate_answer` is called with each gate's answer. `options` are the source's own settings and
    `parameters` the target's, for the fetchers that know some of them; `attempt` counts from 0, and `job_id` is 0
    without a job. A browser keeps the page of `keep_open` open and reads it again at the next fetch.
    """

    url: str
    host: str
    pace: Pace
    timeout: timedelta = timedelta(seconds=30)
    max_bytes: int = 10_000_000
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    etag: str = ""
    last_modified: str = ""
    obey_robots: bool = True
    booked_until: datetime | None = None
    holds_lease: Callable[[], bool] | None = None
    recheck: Callable[[], Awaitable[GateAnswer | None]] | None = None
    on_gate_answer: Callable[[GateAnswer], None] | None = None
    job_id: int = 0
    attempt: int = 0
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    parameters: Mapping[str, str] = msgspec.field(default_factory=dict)
    keep_open: OpenPage | None = None


class StoredPage(msgspec.Struct, frozen=True):
    """A stored page and when it was fetched."""

    id: int
    fetched_at: datetime


class FetchResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a fetch; a failed one has `failure`, and `error` with details for a person.

    `wire_body` is the body as it came over the wire, in `content_encoding` ('' for none): what is stored. `waited`
    is how long its requests waited for their host's pace. `body` is the decoded content, `digest` its xxh3-64 as a
    signed integer. `requested_at` is when the last request of this fetch left, `crawl_delay` the robots.txt Crawl-
    delay if there is one, and `not_modified` a 304. `degraded` names the services that were unavailable;
    `instead_of` is what another fetcher met before this one was used, and `stored` the stored page that is used
    because none could be fetched. `screenshot` is a JPEG of what a browser showed when the page was not what was
    asked for.
    """

    status: FetchStatus
    url: str
    final_url: str = ""
    status_code: int = 0
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    content_type: str = ""
    charset: str = "utf-8"
    wire_body: bytes = b""
    content_encoding: str = ""
    body: bytes = b""
    digest: int = 0
    duration: timedelta = timedelta(0)
    waited: timedelta = timedelta(0)
    fetcher: str = "http"
    requested_at: datetime | None = None
    requests: int = 0
    crawl_delay: timedelta | None = None
    not_modified: bool = False
    failure: Failure | None = None
    error: str = ""
    retry_after: timedelta | None = None
    retry_at: datetime | None = None
    degraded: tuple[Service, ...] = ()
    screenshot: bytes = b""
    instead_of: str = ""
    stored: StoredPage | None = None


class Fetcher(Protocol):
    """Fetches pages. Never raises for what the web does."""

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page on the request's terms."""
        ...

    async def close(self) -> None:
        """Close sockets and processes."""
        ...


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to one URL, already checked by the address guard, robots.txt and the pace.

    Sites are only ever sent a GET; the APIs of outside services are sent others, with a body. `allows_subrequest`
    tells whether a page in a browser may request an address by itself; None when every address is allowed.
    """

    url: str
    headers: Mapping[str, str]
    timeout: timedelta
    max_bytes: int
    method: str = "GET"
    content: bytes = b""
    allows_subrequest: Callable[[str], bool] | None = None


class WireResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The response to one request; redirects are not followed.

    Header names are lower case. `body` is as it came over the wire, never more than `max_bytes`. `cut` says why
    the body is not whole (TOO_LARGE, TRUNCATED_BODY, TIMED_OUT, CONNECTION_LOST); None when it is. `is_garbled` says
    that it was cut because what came is not HTTP, rather than because nothing more came. `subrequest_hosts` names the
    host of each request that the page made by itself, in a browser.
    """

    status_code: int
    headers: Mapping[str, str]
    body: bytes = b""
    cut: Failure | None = None
    is_garbled: bool = False
    subrequest_hosts: tuple[str, ...] = ()


class WireFailure(msgspec.Struct, frozen=True, kw_only=True):
    """No response came, and why; `retry_at` is when to ask again, where known. `subrequest_hosts` as in a response.

    `may_have_arrived` if the other side had a connection, and went silent or hung up without an answer.
    """

    failure: Failure
    detail: str = ""
    retry_at: datetime | None = None
    subrequest_hosts: tuple[str, ...] = ()
    may_have_arrived: bool = False


class Transport(Protocol):
    """Sends single requests; redirects, robots, pace and decoding are handled above it, alike for all transports."""

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Send one request and answer with what came. Never raises for what the web does.

        Await `before_send()` when the connection stands, just before the request goes out, each time one goes out:
        it keeps the spacing as the server sees it, however long connecting took.
        """
        ...

    async def close(self) -> None:
        """Close sockets."""
        ...


class HostRateLimits(Protocol):
    """Rate limits per host that all processes share."""

    async def pace_of(self, host: str) -> Pace | None:
        """Return the pace of a known host; None for an unknown one."""
        ...

    async def reserve(self, host: str, pace: Pace, now: datetime, mine: datetime | None) -> Departure:
        """Book one request at the host and return when it may leave. `mine` is the booking as we last left it."""
        ...

    async def charge(self, host: str, pace: Pace, requests: int, now: datetime) -> None:
        """Book requests that have been sent already, so that the next one waits for them."""
        ...

    async def request_visit(self, host: str, pace: Pace, now: datetime, stay: timedelta) -> bool:
        """Request a place for a request without a claim on this host, such as one that was redirected there.

        Return False when as many of these wait as the host takes at once. Until `leave`, or for `stay`, the host's own
        jobs make room.
        """
        ...

    async def admit_visitor(self, host: str, pace: Pace, now: datetime) -> Departure | None:
        """Book a visitor's request once the host's parallelism allows it; return None until then."""
        ...

    async def leave(self, host: str) -> None:
        """Release a visitor's place."""
        ...


class RequestPermit(msgspec.Struct, frozen=True):
    """Permission for one of a host's parallel requests, and how long to wait before it may be sent."""

    ticket: str
    wait: timedelta


class SharedRateLimiter(Protocol):
    """A rate limiter that all machines share, with one clock."""

    async def charge(self, host: str, pace: Pace, stay: timedelta) -> RequestPermit | None:
        """Count one request and take a place for `stay` at most; return None when the limiter is unavailable."""
        ...

    async def add(self, host: str, pace: Pace, requests: int) -> None:
        """Count requests that have been sent already."""
        ...

    async def release(self, host: str, lease: RequestPermit) -> None:
        """Release the request's place."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


class StoredPages(Protocol):
    """Pages that were stored before."""

    async def fresh(self, target: Target, since: datetime) -> StoredPage | None:
        """Return the newest page with the content of the target's last good page, if it was fetched after `since`."""
        ...


Probe = Callable[[], Awaitable[str]]
"""Checks whether a service works again: returns '' if it does, else what is wrong."""


class ServiceRegistry(Protocol):
    """The status of outside services: each user of one reports how it went, and everyone can read it.

    Repeating a report costs next to nothing; only a change is written and announced. Never call it from within
    a transaction of your own.
    """

    async def degraded(self, service: Service, why: str) -> None:
        """Report that the service failed and its fallback was used. `why` must hold no secret."""
        ...

    async def works(self, service: Service) -> None:
        """Report that the service works."""
        ...

    def state_of(self, service: Service) -> ServiceState:
        """Return the state that this process knows, without I/O."""
        ...

    def degraded_for_all_runs(self) -> tuple[Service, ...]:
        """Return the degraded services that every run needs, as far as this process knows."""
        ...

    async def statuses(self) -> list[ServiceStatus]:
        """Return the status of every service, as far as any process knows."""
        ...

    def register_probe(self, service: Service, probe: Probe) -> None:
        """Register the probe with which the periodic check asks a degraded service whether it works again."""
        ...
