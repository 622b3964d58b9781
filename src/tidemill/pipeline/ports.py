"""What the stages need from the world, as protocols; `bootstrap` plugs the real things in."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

import msgspec

from tidemill.core.degradation import Service, ServiceStatus, Standing
from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace


class StoreError(Exception):
    """The database cannot do what was asked; the message says what to do about it."""


class StoreLost(StoreError):
    """The database is away for the moment: unreachable, locked or full. What was asked may be tried again."""


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
    """How a fetch ended (F1)."""

    OK = "ok"
    ERROR = "error"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    ROBOTS_BLOCKED = "robots_blocked"


class FetchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One page to get, and the terms on which we may.

    `host` is the registrable domain whose `pace` every request counts against, redirects and robots.txt
    included; `tab` is what the ledger knows it was asked before, for a process that has not asked it yet. `etag` and
    `last_modified` come from the last good page and make the request conditional. `is_ours` is asked just before a
    request leaves: a worker that was frozen for longer than its lease must not ask for a job that it has lost.
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
    tab: datetime | None = None
    is_ours: Callable[[], bool] | None = None


class FetchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came back (F1). Trouble is a value: `failure` says what it was, `error` tells a person more.

    `wire_body` is the body as it came over the wire, in `content_encoding` ('' for none): what is stored.
    `body` is the decoded content, `digest` its xxh3-64 as a signed integer. `requested_at` is when the last
    request of this fetch left, `slow_to` the robots.txt Crawl-delay if there is one, and `not_modified` a 304.
    `degraded` names the services that this fetch had to do without.
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


class Fetcher(Protocol):
    """One interface for every way to get a page (F1). Never raises for what the web does."""

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Get one page within the request's terms."""
        ...

    async def close(self) -> None:
        """Let go of sockets and processes."""
        ...


class WireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One GET for one address, already judged by the address guard, robots.txt and the pace."""

    url: str
    headers: Mapping[str, str]
    timeout: timedelta
    max_bytes: int


class WireResponse(msgspec.Struct, frozen=True, kw_only=True):
    """What one request brought, redirects not followed.

    Header names are lower case. `body` is as it came over the wire, never more than `max_bytes`. `cut` says why
    the body is not whole (TOO_LARGE, TRUNCATED_BODY, TIMED_OUT, CONNECTION_LOST); None when it is.
    """

    status_code: int
    headers: Mapping[str, str]
    body: bytes = b""
    cut: Failure | None = None


class WireFailure(msgspec.Struct, frozen=True, kw_only=True):
    """No response came, and why."""

    failure: Failure
    detail: str = ""


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


Probe = Callable[[], Awaitable[str]]
"""Asks a service whether it answers again: '' when it does, else what is wrong."""


class ServiceBook(Protocol):
    """How the services outside of us stand: each user of one says how it went, everyone can read it (R3).

    Saying the same again costs next to nothing; only a change is written and announced. Never call it from within
    a transaction of your own.
    """

    async def degraded(self, service: Service, why: str) -> None:
        """The service failed us, and its fallback was used. `why` must hold no secret."""
        ...

    async def works(self, service: Service) -> None:
        """The service answered as it should."""
        ...

    def state_of(self, service: Service) -> Standing:
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
