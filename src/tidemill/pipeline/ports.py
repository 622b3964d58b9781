"""What the stages need from the world, as protocols; `bootstrap` plugs the real things in."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from tidemill.core.degradation import Service, ServiceState, ServiceStatus
from tidemill.core.failure import Failure
from tidemill.core.gates import GateAnswer
from tidemill.core.pacing import Departure, Pace
from tidemill.core.target import Target


class StoreError(Exception):
    """The database cannot do what was asked; the message says what to do about it."""


class StoreLost(StoreError):
    """The database is away for the moment: unreachable, locked or full. What was asked may be tried again."""


class StoreBusy(StoreLost):
    """The database is there and has no room just now: a lock, a connection or memory. Try again soon."""


class StoreConflict(StoreLost):
    """The database undid this transaction in favour of another one. Try it again at once."""


class Clock(Protocol):
    """The only source of time; real in production, virtual in the lab."""

    def now(self) -> datetime:
        """The present moment, always in UTC."""
        ...

    async def sleep_until(self, moment: datetime) -> None:
        """Return once `moment` has come; at once if it has passed."""
        ...


class Dice(Protocol):
    """The only source of chance."""

    def random(self) -> float:
        """A number from 0 up to, not including, 1."""
        ...


class FetchStatus(StrEnum):
    """How a fetch ended."""

    OK = "ok"
    ERROR = "error"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    ROBOTS_BLOCKED = "robots_blocked"


class FetchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One page to get, and the terms on which we may.

    `host` is the registrable domain whose `pace` every request counts against, redirects and robots.txt
    included; `booked_until` is what the ledger knows it was asked before, for a process that has not asked it yet.
    `etag` and
    `last_modified` come from the last good page and make the request conditional. `is_ours` is asked just before a
    request leaves: a worker that was frozen for longer than its lease must not ask for a job that it has lost.
    `recheck` is asked then too, when there was time for the gates to change their mind since they were asked: None
    when all of them still let through. `tell` hears what each gate says on the way. `options` are
    the source's own settings and `parameters` the target's, for the fetchers that know some of them; `attempt` counts
    from 0, and `job_id` is whose it is (0 for nobody's).
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
    is_ours: Callable[[], bool] | None = None
    recheck: Callable[[], Awaitable[GateAnswer | None]] | None = None
    tell: Callable[[GateAnswer], None] | None = None
    job_id: int = 0
    attempt: int = 0
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    parameters: Mapping[str, str] = msgspec.field(default_factory=dict)


class StoredPage(msgspec.Struct, frozen=True):
    """A page that was got before, and when."""

    id: int
    fetched_at: datetime


class FetchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came back. Trouble is a value: `failure` says what it was, `error` tells a person more.

    `wire_body` is the body as it came over the wire, in `content_encoding` ('' for none): what is stored.
    `body` is the decoded content, `digest` its xxh3-64 as a signed integer. `requested_at` is when the last
    request of this fetch left, `slow_to` the robots.txt Crawl-delay if there is one, and `not_modified` a 304.
    `degraded` names the services that this fetch had to do without; `instead_of` is what another fetcher met before
    this one was asked, and `stored` the page that serves because nothing new could be got. `screenshot` is a
    JPEG of what a browser showed when the page was not what was asked for.
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
    fetcher: str = "http"
    requested_at: datetime | None = None
    requests: int = 0
    slow_to: timedelta | None = None
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
    """One interface for every way to get a page. Never raises for what the web does."""

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Get one page within the request's terms."""
        ...

    async def close(self) -> None:
        """Let go of sockets and processes."""
        ...


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to one address, already judged by the address guard, robots.txt and the pace.

    Sites are only ever sent a GET; the APIs of outside services are sent others, with a body. `lets` says whether a
    page in a browser may ask for an address by itself; None when nobody minds.
    """

    url: str
    headers: Mapping[str, str]
    timeout: timedelta
    max_bytes: int
    method: str = "GET"
    content: bytes = b""
    lets: Callable[[str], bool] | None = None


class WireResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What one request brought, redirects not followed.

    Header names are lower case. `body` is as it came over the wire, never more than `max_bytes`. `cut` says why
    the body is not whole (TOO_LARGE, TRUNCATED_BODY, TIMED_OUT, CONNECTION_LOST); None when it is. `is_garbled` says
    that it was cut because what came is not HTTP, rather than because nothing more came. `beside` names the host of
    each request that the page made by itself, in a browser.
    """

    status_code: int
    headers: Mapping[str, str]
    body: bytes = b""
    cut: Failure | None = None
    is_garbled: bool = False
    beside: tuple[str, ...] = ()


class WireFailure(msgspec.Struct, frozen=True, kw_only=True):
    """No response came, and why; `retry_at` is when to ask again, where that is known. `beside` as in a response."""

    failure: Failure
    detail: str = ""
    retry_at: datetime | None = None
    beside: tuple[str, ...] = ()


class Transport(Protocol):
    """Sends one request; everything above it (redirects, robots, pace, decoding) is the same for all transports."""

    async def send(self, request: WireRequest, depart: Callable[[], Awaitable[None]]) -> WireResponse | WireFailure:
        """Send one request and answer with what came. Never raises for what the web does.

        Await `depart()` when the connection stands, just before the request goes out, each time one goes out:
        it keeps the spacing as the server sees it, however long connecting took.
        """
        ...

    async def close(self) -> None:
        """Let go of sockets."""
        ...


class HostRateLimits(Protocol):
    """What all processes together have asked of each host, kept where every one of them sees it."""

    async def pace_of(self, host: str) -> Pace | None:
        """The pace of a host that somebody scrapes; None for a stranger."""
        ...

    async def reserve(self, host: str, pace: Pace, now: datetime, mine: datetime | None) -> Departure:
        """Book one request at the host; answers when it may leave. `mine` is the booking as we last left it."""
        ...

    async def charge(self, host: str, pace: Pace, requests: int, now: datetime) -> None:
        """Put requests on the host's booking that have been sent already, so that the next has to wait for them."""
        ...

    async def request_visit(self, host: str, pace: Pace, now: datetime, stay: timedelta) -> bool:
        """Ask for a place for a request that no claim stands behind, such as one that was redirected there.

        False when as many visitors wait as the host takes at once. Until `leave`, or for `stay`, the host's own jobs
        make room.
        """
        ...

    async def admit_visitor(self, host: str, pace: Pace, now: datetime) -> Departure | None:
        """Put a visitor's request on the booking, once no more are under way than the host allows; None until then."""
        ...

    async def leave(self, host: str) -> None:
        """A visitor's request is over."""
        ...


class RequestPermit(msgspec.Struct, frozen=True):
    """A place among those under way at a host, and how long to wait before the request may leave."""

    ticket: str
    wait: timedelta


class SharedRateLimiter(Protocol):
    """Charges every request as it leaves, by one clock for all machines."""

    async def charge(self, host: str, pace: Pace, stay: timedelta) -> RequestPermit | None:
        """Count one request and take a place for `stay` at most; None when the meter cannot be asked."""
        ...

    async def add(self, host: str, pace: Pace, requests: int) -> None:
        """Count requests that have been sent already."""
        ...

    async def release(self, host: str, lease: RequestPermit) -> None:
        """The request is over."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


class StoredPages(Protocol):
    """Pages that were got before."""

    async def fresh(self, target: Target, since: datetime) -> StoredPage | None:
        """The newest page that says what the target's last good page said, if it was got after `since`."""
        ...


Probe = Callable[[], Awaitable[str]]
"""Asks a service whether it answers again: '' when it does, else what is wrong."""


class ServiceRegistry(Protocol):
    """How the services outside of us stand: each user of one says how it went, everyone can read it.

    Saying the same again costs next to nothing; only a change is written and announced. Never call it from within
    a transaction of your own.
    """

    async def degraded(self, service: Service, why: str) -> None:
        """The service failed us, and its fallback was used. `why` must hold no secret."""
        ...

    async def works(self, service: Service) -> None:
        """The service answered as it should."""
        ...

    def state_of(self, service: Service) -> ServiceState:
        """How it stands as far as this process knows, without asking anyone."""
        ...

    def weighing_on_all(self) -> tuple[Service, ...]:
        """The degraded services that every run needs, as far as this process knows."""
        ...

    async def standing(self) -> list[ServiceStatus]:
        """How every service stands, as far as any process knows."""
        ...

    def probe_with(self, service: Service, probe: Probe) -> None:
        """Let the periodic look ask a degraded service with `probe` whether it answers again."""
        ...
