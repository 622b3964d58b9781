"""The `browser` fetcher: the page as it stands after its scripts have run, behind the same gates as any other."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tidemill.core.degradation import Service
from tidemill.core.failure import Failure
from tidemill.core.source import FetcherKind
from tidemill.fetching.browsers.trouble import BrowserLost, NoBrowser
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

if TYPE_CHECKING:  # without the extra `browser` these cannot be imported, and the fetcher must say so, not fail
    from tidemill.fetching.browsers.pool import BrowserPool, Loan
    from tidemill.fetching.browsers.tab import Patience, Tab

LOOK_AGAIN = timedelta(minutes=1)
"""How soon a browser that was missing is looked for again."""
WAIT_FOR = "wait_for"
"""The source's setting that names, as a CSS selector, the element to wait for."""
NOTICE_BYTES = 200_000
"""A page larger than this is no mere notice that we are blocked."""


class BrowserVisit:
    """One fetch in a browser, as the transport of a trip: it opens its context when the first request may leave."""

    def __init__(self, loan: "Loan", patience: "Patience") -> None:
        """Every request of the trip goes out in the context of `loan`."""
        self._loan = loan
        self._patience = patience

    async def send(self, request: WireRequest, depart: Callable[[], Awaitable[None]]) -> WireResponse | WireFailure:
        """Go to one address; what the page does of itself happens behind the gateway."""
        try:
            tab = await self._loan.open()
            return await tab.load(request, depart, self._patience)
        except BrowserLost as loss:
            return WireFailure(failure=Failure.BROWSER_LOST, detail=str(loss))

    async def close(self) -> None:
        """Nothing to let go of: the loan is given back by whoever took it."""


class BrowserFetcher:
    """Gets pages that need JavaScript. Without a browser its jobs wait, and the services' book says why."""

    def __init__(
        self,
        plain: HttpFetcher,
        open_pool: Callable[[], "BrowserPool"],
        services: ServiceRegistry,
        clock: Clock,
        *,
        patience: timedelta = timedelta(seconds=5),
    ) -> None:
        """`plain` lends its gates and brings robots.txt; `open_pool` raises NoBrowser where there is none."""
        self._plain = plain
        self._open_pool = open_pool
        self._services = services
        self._clock = clock
        self._patience = patience
        self.pool: BrowserPool | None = None
        services.register_probe(Service.BROWSER, self._probe)

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Get one page as its scripts have made it. Never conditional: the page is more than its first document."""
        try:
            self.pool = self.pool or self._open_pool()
            async with self.pool.lend(request.host) as loan:
                result = await self._visit(self.pool, loan, replace(request, etag="", last_modified=""))
            if result.failure is not Failure.BROWSER_LOST:
                await self._services.works(Service.BROWSER)
        except NoBrowser as missing:
            return await self._without(request, str(missing))
        return replace(result, fetcher=FetcherKind.BROWSER.value)

    async def close(self) -> None:
        """Close every browser, in bounded time."""
        pool, self.pool = self.pool, None
        if pool is not None:
            await pool.close()

    async def _visit(self, pool: "BrowserPool", loan: "Loan", request: FetchRequest) -> FetchResult:
        from tidemill.fetching.browsers.tab import Patience  # noqa: PLC0415 - see TYPE_CHECKING above

        selector = request.options.get(WAIT_FOR, "")
        patience = Patience(selector if isinstance(selector, str) else "", self._patience)
        result = await self._plain.rendering(BrowserVisit(loan, patience)).fetch(request)
        if loan.tab is None or result.failure is Failure.BROWSER_LOST:
            return result
        if result.failure is Failure.TIMED_OUT and await loan.tab.is_hung():
            await pool.report("context_pool_reset", f"context of {request.host}", reason="hung", url=request.url)
            return replace(result, error="the page hung, and its context was thrown away")
        return await _with_picture(result, loan.tab)

    async def _without(self, request: FetchRequest, why: str) -> FetchResult:
        """No browser: the job waits, and the system says that it is degraded until there is one."""
        await self._services.degraded(Service.BROWSER, why)
        return FetchResult(
            status=FetchStatus.ERROR,
            url=request.url,
            failure=Failure.HELD_BACK,
            error=why,
            retry_at=self._clock.now() + LOOK_AGAIN,
            fetcher=FetcherKind.BROWSER.value,
            degraded=(Service.BROWSER,),
        )

    async def _probe(self) -> str:
        """Whether a browser is to be had by now: '' when it is."""
        try:
            self.pool = self.pool or self._open_pool()
            await self.pool.ready()
        except (NoBrowser, BrowserLost) as missing:
            return str(missing)
        return ""


async def _with_picture(result: FetchResult, tab: "Tab") -> FetchResult:
    """A page that is not what we asked for, with what a person would have seen of it."""
    if status_of(result.failure) is FetchStatus.ROBOTS_BLOCKED or not _looks_wrong(result):
        return result
    return replace(result, screenshot=await tab.screenshot())


def _looks_wrong(result: FetchResult) -> bool:
    if result.failure is not None:
        return True
    is_small = "html" in result.content_type and len(result.body) <= NOTICE_BYTES
    return is_small and blocked(Document(result.body, result.final_url)) is not None
