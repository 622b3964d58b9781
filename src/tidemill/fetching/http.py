"""The `http` fetcher: the default way to get a page."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

import xxhash
from msgspec.structs import replace

from tidemill.core.failure import Failure
from tidemill.core.pacing import OwnPaces
from tidemill.core.urls import BadUrl, normalize
from tidemill.fetching.aiohttp_request import DefaultHeaders
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.charset import charset_of
from tidemill.fetching.curl_transport import CurlTransport, curl_or_none
from tidemill.fetching.decoding import decode
from tidemill.fetching.fallback_transport import FallbackTransport, Report
from tidemill.fetching.gated_fetch import GatedFetch, Gates, RedirectResult
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.host_pacer import HostPacer
from tidemill.fetching.robots import Robots, RobotsMemory
from tidemill.fetching.translate import failure_of_code, is_part, retry_after, status_of
from tidemill.pipeline.ports import (
    Clock,
    FetchRequest,
    FetchResult,
    FetchStatus,
    HostRateLimits,
    SharedRateLimiter,
    Transport,
    WireResponse,
)

USER_AGENT = "Tidemill/0.1"
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8"
ACCEPT_ENCODING = "gzip, deflate, br, zstd"

_NOT_MODIFIED = 304
_SIGN_BIT = 1 << 63


class HttpFetcher:
    """Gets pages with plain HTTP requests, through every gate: guard, robots.txt and pace."""

    def __init__(self, gates: Gates, headers: Mapping[str, str]) -> None:
        """Made by `http_fetcher`; `headers` go with every request."""
        self._gates = gates
        self._headers = headers

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page within the request's terms; a failure is a value, never an exception."""
        try:
            href = normalize(request.url)
        except BadUrl as error:
            return FetchResult(
                status=FetchStatus.ERROR, url=request.url, failure=Failure.BAD_URL, error=str(error)
            )  # fmt: skip
        if "#" in href:
            href = href.partition("#")[0]
        headers, is_conditional = self._headers, False
        if request.headers or request.etag or request.last_modified:
            conditions = _conditions(request)
            headers, is_conditional = _merged(headers, {**request.headers, **conditions}), bool(conditions)
        fetch = GatedFetch(self._gates, request, headers, href)
        result = await fetch.follow(href, request.max_bytes, request.timeout, obeys_robots=request.obey_robots)
        if result.response is None:
            return _without_response(request, fetch, result)
        return self._with_response(request, fetch, result.url, result.response, is_conditional=is_conditional)

    def through(self, transport: Transport) -> "HttpFetcher":
        """Return a fetcher with the same gates that sends its requests with another transport."""
        return HttpFetcher(replace(self._gates, transport=transport), self._headers)

    def rendering(self, transport: Transport) -> "HttpFetcher":
        """Return a fetcher that gets pages with `transport` and robots.txt with the plain one."""
        return HttpFetcher(
            replace(self._gates, transport=transport, plain_transport=self._gates.transport), self._headers
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._gates.transport.close()
        await self._gates.pacer.close()

    def _with_response(
        self, request: FetchRequest, fetch: GatedFetch, final_url: str, response: WireResponse, *, is_conditional: bool
    ) -> FetchResult:
        headers = response.headers
        content_type = headers.get("content-type", "")
        decoded = decode(response.body, headers.get("content-encoding", ""), request.max_bytes)
        failure = _failure_of(response, decoded.cut, is_conditional=is_conditional)
        result = FetchResult(
            status=FetchStatus.OK,
            url=request.url,
            final_url=final_url,
            status_code=response.status_code,
            headers=headers,
            content_type=content_type,
            charset=charset_of(decoded.content, content_type),
            wire_body=decoded.stored,
            content_encoding=decoded.stored_as,
            body=decoded.content,
            digest=digest_of(decoded.content),
            duration=fetch.duration,
            waited=fetch.waited,
            requested_at=fetch.requested_at,
            requests=fetch.requests,
            crawl_delay=fetch.crawl_delay,
            not_modified=is_conditional and response.status_code == _NOT_MODIFIED,
        )
        return result if failure is None else self._as_failed(result, response, failure)

    def _as_failed(self, result: FetchResult, response: WireResponse, failure: Failure) -> FetchResult:
        """Return the result with its failure; the page stays with it as evidence."""
        wait = self._retry_after(response)
        error = _error_text(response, failure)
        return replace(result, status=status_of(failure), failure=failure, error=error, retry_after=wait)

    def _retry_after(self, response: WireResponse) -> timedelta | None:
        header = response.headers.get("retry-after")
        return None if header is None else retry_after(header, self._gates.clock.now())


def http_fetcher(
    clock: Clock,
    *,
    transport: Transport | None = None,
    user_agent: str = USER_AGENT,
    allow: Iterable[str] = (),
    resolve: Mapping[str, str] | None = None,
    max_connections: int = 100,
    rate_limits: HostRateLimits | None = None,
    shared_limiter: SharedRateLimiter | None = None,
    report: Report | None = None,
    own_paces: OwnPaces | None = None,
    robots_memory: RobotsMemory | None = None,
) -> HttpFetcher:
    """Return the http fetcher with its gates.

    `allow` names addresses that may be reached although they are not public (`127.0.0.0/8`, `10.0.0.7:8080`,
    `intranet.example`); `resolve` maps names to addresses that no DNS knows. The product token that robots.txt
    files address is what stands before the slash of `user_agent`. `rate_limits` and `shared_limiter` are the pace that
    other processes and machines share. `report` is called when libcurl is needed and its extra is not installed.
    `own_paces` are the hosts that are counted apart from their registrable domain, and `robots_memory` keeps robots.txt
    files over restarts.
    """
    guard = AddressGuard(allow)
    headers = DefaultHeaders({"User-Agent": user_agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPT_ENCODING})
    gates = Gates(
        clock=clock,
        guard=guard,
        robots=Robots(clock, user_agent.partition(" ")[0], robots_memory),
        pacer=HostPacer(clock, rate_limits, shared_limiter),
        own_paces=own_paces or {},
        transport=transport or _transport_with_fallback(clock, guard, resolve, max_connections, report),
    )
    return HttpFetcher(gates, headers)


def _transport_with_fallback(
    clock: Clock,
    guard: AddressGuard,
    resolve: Mapping[str, str] | None,
    max_connections: int,
    report: Report | None,
) -> FallbackTransport:
    """Return aiohttp's transport, and libcurl's behind it where its extra is installed."""
    first = AiohttpTransport(guard, resolve=resolve, max_connections=max_connections)
    curl = curl_or_none()
    second = None if curl is None else CurlTransport(curl, guard, resolve=resolve)
    return FallbackTransport(first, second, clock, report)


def digest_of(body: bytes) -> int:
    """Return the change-detection hash of a body, as a signed 64-bit integer that any database holds."""
    digest = xxhash.xxh3_64_intdigest(body)
    return digest - (_SIGN_BIT << 1) if digest & _SIGN_BIT else digest


def _merged(default: Mapping[str, str], special: Mapping[str, str]) -> dict[str, str]:
    """Return the default headers with these in their place, whatever the case of their names."""
    replaced = {name.lower() for name in special}
    return {**{name: value for name, value in default.items() if name.lower() not in replaced}, **special}


def _conditions(request: FetchRequest) -> dict[str, str]:
    """Return the headers that make the request conditional, without validators that cannot be sent back."""
    named = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in named.items() if value and value.isascii() and value.isprintable()}


def _failure_of(response: WireResponse, cut: Failure | None, *, is_conditional: bool) -> Failure | None:
    """Return what is wrong with a response: its status first, then a body that is not whole."""
    if response.status_code == _NOT_MODIFIED and is_conditional:
        return None
    part = Failure.TRUNCATED_BODY if is_part(response.status_code, response.headers.get("content-range", "")) else None
    return failure_of_code(response.status_code) or response.cut or cut or part


def _error_text(response: WireResponse, failure: Failure) -> str:
    if failure_of_code(response.status_code) is not None:
        return f"the server answered {response.status_code}"
    return f"the body is not whole: {failure}"


def _without_response(request: FetchRequest, fetch: GatedFetch, result: RedirectResult) -> FetchResult:
    return FetchResult(
        status=status_of(result.failure),
        url=request.url,
        final_url=result.url,
        duration=fetch.duration,
        waited=fetch.waited,
        requested_at=fetch.requested_at,
        requests=fetch.requests,
        crawl_delay=fetch.crawl_delay,
        failure=result.failure,
        error=result.detail,
        retry_at=result.retry_at,
    )
