"""An address that may become a source: fetched once, read by every vertical and adapter, nothing kept."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import FetcherKind
from tidemill.core.urls import BadUrl, normalize
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import Clock, FetchResult
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.pipeline.reader_functions.tried_addresses import TRIED, AddressTrial, PageToTry

FetchOnce = Callable[[str, FetcherKind], Awaitable[FetchResult]]
"""Fetches an address through every gate: guard, robots.txt and pace."""


class AddressTrials:
    """Tries addresses; writes nothing."""

    def __init__(self, readers: FunctionReaders, clock: Clock, fetch: FetchOnce) -> None:
        """`fetch` goes through every gate that a job goes through, and `readers` read what came."""
        self._readers = readers
        self._clock = clock
        self._fetch = fetch

    async def try_address(self, url: str, *, browser: bool = False, city: str = "") -> AddressTrial:
        """Fetch an address and read it in every way; with `browser` by one, as a visitor's would.

        `city` is where its source would be, which pages about one place rarely say.
        """
        address = checked_address(url)
        kind = FetcherKind.BROWSER if browser else FetcherKind.HTTP
        page = _page_of(await self._fetch(address, kind), self._clock.now())
        asked = PageToTry(address=address, page=page, fetcher=kind, now=self._clock.now(), city=city)
        tried = await self._readers.call(TRIED, asked)
        if isinstance(tried, Fail):
            msg = f"{address} cannot be read: {tried.detail or tried.failure}"
            raise Mistake(msg)
        return tried


def checked_address(url: str) -> str:
    """Return an address as it is fetched; raise `Mistake` for what is none."""
    text = url.strip()
    try:
        return normalize(text if "://" in text else f"https://{text}")
    except BadUrl as error:
        raise Mistake(str(error)) from error


def _page_of(result: FetchResult, now: datetime) -> Page:
    if result.failure is not None:
        words = f"{result.url} cannot be had: {str(result.failure).replace('_', ' ').lower()}"
        detail = f" ({result.error or result.status_code})" if result.error or result.status_code else ""
        hint = (
            "; addresses of this machine and its network are refused"
            if result.failure is Failure.ADDRESS_REFUSED
            else ""
        )
        raise Mistake(words + detail + hint)
    return Page(
        id=0, url=result.url, final_url=result.final_url or result.url, status_code=result.status_code,
        body=result.body, charset=result.charset, content_type=result.content_type, digest=result.digest,
        fetched_at=result.requested_at or now,
    )  # fmt: skip
