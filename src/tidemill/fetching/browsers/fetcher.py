"""The `browser` fetcher: the page as it is after its scripts have run, behind the same gates as any other."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tidemill.core.failure import Failure
from tidemill.core.health.contexts import NO_USAGE, ContextUsage
from tidemill.core.services.degradation import Service
from tidemill.core.source import FetcherKind
from tidemill.fetching.browsers.errors import BrowserLost, NoBrowser
from tidemill.fetching.http import HttpFetcher
from tidemill.fetching.translate import status_of
from tidemill.pipeline.ports import (
    Clock,
    FetchRequest,
    FetchResult,
    FetchStatus,
    ServiceRegistry,
    WireFailure,
    WireRequest,
    WireResponse,
)
from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document

if TYPE_CHECKING:  # not importable without the extra `browser`, and the fetcher must then say so, not fail
    from tidemill.fetching.browsers.pool import BorrowedContext, BorrowedPage, BrowserPool
    from tidemill.fetching.browsers.tab import Tab, WaitRule

RETRY_AFTER = timedelta(minutes=1)
"""How soon a missing browser is looked for again."""
WAIT_FOR = "wait_for"
"""The source's setting that names, as a CSS selector, the element to wait for."""
NOTICE_BYTES = 200_000
"""A page larger than this is not just a notice that we are blocked."""


class BrowserTransport:
    """The transport of one fetch in a browser; its context is opened when the first request may be sent."""

    def __init__(self, borrowed: "BorrowedContext | BorrowedPage", wait: "WaitRule") -> None:
        """Send every request of the fetch in the context of `borrowed`."""
        self._borrowed = borrowed
        self._wait = wait

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Load one address; the page's own requests go through the gateway."""
        try:
            tab = await self._borrowed.open()
            if tab.is_open_at(request.url):
                answer = await tab.read_again(request, before_send)
                if answer is not None:
                    return answer
            return await tab.load(request, before_send, self._wait)
        except BrowserLost as loss:
            return WireFailure(failure=Failure.BROWSER_LOST, detail=str(loss))

    async def close(self) -> None:
        """Close nothing: the caller that borrowed the context returns it."""


class BrowserFetcher:
    """Fetches pages that need JavaScript; without a browser its jobs wait, and the service registry says why."""

    def __init__(
        self,
        plain: HttpFetcher,
        open_pool: Callable[[], "BrowserPool"],
        services: ServiceRegistry,
        clock: Clock,
        *,
        wait_limit: timedelta = timedelta(seconds=5),
    ) -> None:
        """Use the gates of `plain`, also for robots.txt; `open_pool` raises NoBrowser where there is none."""
        self._plain = plain
        self._open_pool = open_pool
        self._services = services
        self._clock = clock
        self._wait_limit = wait_limit
        self.pool: BrowserPool | None = None
        services.register_probe(Service.BROWSER, self._probe)

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page as its scripts made it, never conditionally: the page is more than its first document."""
        try:
            self.pool = self.pool or self._open_pool()
            kept = request.keep_open
            async with self.pool.use_open_page(kept) if kept else self.pool.borrow(request.host) as borrowed:
                result = await self._fetch_with(self.pool, borrowed, replace(request, etag="", last_modified=""))
            if result.failure is not Failure.BROWSER_LOST:
                await self._services.works(Service.BROWSER)
        except NoBrowser as missing:
            return await self._no_browser_result(request, str(missing))
        return replace(result, fetcher=FetcherKind.BROWSER.value)

    async def close(self) -> None:
        """Close every browser, in bounded time."""
        pool, self.pool = self.pool, None
        if pool is not None:
            await pool.close()

    @property
    def usage(self) -> ContextUsage:
        """What the browser takes of the machine; nothing while there is none."""
        return NO_USAGE if self.pool is None else self.pool.usage

    async def _fetch_with(
        self, pool: "BrowserPool", borrowed: "BorrowedContext | BorrowedPage", request: FetchRequest
    ) -> FetchResult:
        from tidemill.fetching.browsers.tab import WaitRule  # noqa: PLC0415 - see TYPE_CHECKING above

        selector = request.options.get(WAIT_FOR, "")
        wait = WaitRule(selector if isinstance(selector, str) else "", self._wait_limit)
        result = await self._plain.rendering(BrowserTransport(borrowed, wait)).fetch(request)
        if borrowed.tab is None or result.failure is Failure.BROWSER_LOST:
            return result
        if result.failure is Failure.TIMED_OUT and await borrowed.tab.is_hung():
            await pool.report("context_pool_reset", f"context of {request.host}", reason="hung", url=request.url)
            return replace(result, error="the page hung, and its context was thrown away")
        return await _with_screenshot(result, borrowed.tab)

    async def _no_browser_result(self, request: FetchRequest, why: str) -> FetchResult:
        """Report the missing browser and return a result that makes the job wait."""
        await self._services.degraded(Service.BROWSER, why)
        return FetchResult(
            status=FetchStatus.ERROR,
            url=request.url,
            failure=Failure.HELD_BACK,
            error=why,
            retry_at=self._clock.now() + RETRY_AFTER,
            fetcher=FetcherKind.BROWSER.value,
            degraded=(Service.BROWSER,),
        )

    async def _probe(self) -> str:
        """Return '' if a browser can be started, else what is wrong."""
        try:
            self.pool = self.pool or self._open_pool()
            await self.pool.ready()
        except (NoBrowser, BrowserLost) as missing:
            return str(missing)
        return ""


async def _with_screenshot(result: FetchResult, tab: "Tab") -> FetchResult:
    """Return the result, with a screenshot if the page is not what was asked for."""
    if status_of(result.failure) is FetchStatus.ROBOTS_BLOCKED or not _looks_wrong(result):
        return result
    return replace(result, screenshot=await tab.screenshot())


def _looks_wrong(result: FetchResult) -> bool:
    if result.failure is not None:
        return True
    is_small = "html" in result.content_type and len(result.body) <= NOTICE_BYTES
    return is_small and blocked(Document(result.body, result.final_url)) is not None
