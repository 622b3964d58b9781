"""Feeds: fetch what lists a source's pages, through the usual gates, and answer the pages that it lists."""

from collections import deque
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.checks.feed_settings import Feed, feeds_of
from tidemill.core.outcome import Fail
from tidemill.core.policy import Policy
from tidemill.core.source import FetcherKind, Source, counts_by_host, foreign_target
from tidemill.core.urls import BadUrl, host_of, join, registrable_domain
from tidemill.pipeline.ports import Fetcher, FetchRequest, FetchResult, FetchStatus
from tidemill.pipeline.reader_functions.feeds import FEED_LISTED, FeedBody
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.reading.feeds.listing import FeedListing

MOST_FETCHES = 50
"""Feeds of one source that are fetched at a time, those included that an index of sitemaps names."""


class FeedRead(msgspec.Struct, frozen=True, kw_only=True):
    """A feed that was read: the pages that are wanted of it, and what was in the way ('' for nothing)."""

    url: str
    form: str = ""
    pages: Sequence[str] = ()
    trouble: str = ""


class FeedReader:
    """Reads the feeds of a source, one after the other, at the pace of their hosts."""

    def __init__(
        self,
        fetchers: Mapping[FetcherKind, Fetcher],
        policies: Mapping[str, Policy],
        readers: FunctionReaders,
    ) -> None:
        """`policies` by vertical: the pace where a source sets none. `readers` read what came."""
        self._fetchers = fetchers
        self._policies = policies
        self._readers = readers

    async def read(self, source: Source) -> list[FeedRead]:
        """Read every feed of a source and the sitemaps that they name; each address once."""
        done: list[FeedRead] = []
        waiting = deque(feeds_of(source.adapter_settings))
        seen: set[str] = set()
        while waiting:
            feed = waiting.popleft()
            try:
                url = full_address(source, feed.url)
            except BadUrl as error:
                done.append(FeedRead(url=feed.url, trouble=str(error)))
                continue
            if url in seen:
                continue
            if len(seen) >= MOST_FETCHES:
                done.append(FeedRead(url=url, trouble=f"no more than {MOST_FETCHES} feeds are read at a time"))
                break
            seen.add(url)
            read, further = await self._read(source, feed, url)
            done.append(read)
            waiting.extend(msgspec.structs.replace(feed, url=each) for each in further)
        return done

    async def _read(self, source: Source, feed: Feed, url: str) -> tuple[FeedRead, Sequence[str]]:
        if (foreign := foreign_target(url, source)) is not None:
            return FeedRead(url=url, trouble=foreign), ()
        listing, trouble = await self._listing(source, url)
        if listing is None:
            return FeedRead(url=url, trouble=trouble), ()
        wanted = [each for each in listing.pages if feed.takes(each)]
        if len(wanted) > feed.most:
            trouble = trouble or f"{len(wanted):,} pages, of which the first {feed.most:,} were taken"
        words = listing.trouble or trouble
        return FeedRead(url=url, form=listing.form, pages=wanted[: feed.most], trouble=words), listing.feeds

    async def _listing(self, source: Source, url: str) -> tuple[FeedListing | None, str]:
        result = await self._fetchers[FetcherKind.HTTP].fetch(self._request(source, url))
        if result.status is not FetchStatus.OK:
            return None, f"{result.failure or result.status} {result.error}".strip()
        if (foreign := foreign_target(result.final_url or url, source)) is not None:
            return None, f"it led elsewhere: {foreign}"
        listing = await self._readers.call(FEED_LISTED, FeedBody(result.body, result.charset))
        if isinstance(listing, Fail):
            return None, f"it cannot be read: {listing.detail or listing.failure}"
        return _joined(listing, result, url), ""

    def _request(self, source: Source, url: str) -> FetchRequest:
        policy = self._policies[source.vertical]
        return FetchRequest(
            url=url,
            host=host_of(url) if counts_by_host(source.adapter_settings) else registrable_domain(url),
            pace=source.pace or policy.pace,
            timeout=source.timeout or policy.timeout,
            max_bytes=policy.max_page_bytes,
            headers=source.headers,
            obey_robots=True,
        )


def full_address(source: Source, url: str) -> str:
    """Return the address of a feed; `/sitemap.xml` is one of the source's own site."""
    return join(source.base_url, url)


def _joined(listing: FeedListing, result: FetchResult, url: str) -> FeedListing:
    """Return a listing with addresses that are whole; what is none is left out."""
    base = result.final_url or url
    return msgspec.structs.replace(
        listing, pages=_whole(base, listing.pages), feeds=_whole(base, listing.feeds)
    )  # fmt: skip


def _whole(base: str, addresses: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for each in addresses:
        try:
            found[join(base, each)] = None
        except BadUrl:
            continue
    return list(found)
