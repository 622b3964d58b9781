"""Gets a page by hand: through every gate, from a file, or from the store."""

import mimetypes
from datetime import datetime
from pathlib import Path

import xxhash

from tidemill.bootstrap import build_fetchers
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.source import FetcherKind
from tidemill.core.urls import normalize, registrable_domain
from tidemill.engine.clock import RealClock
from tidemill.fetching.charset import charset_of
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import FetchRequest, FetchResult
from tidemill.settings import Settings

LARGEST = 50_000_000
"""Bytes; no agenda is larger."""


def is_url(text: str) -> bool:
    """Whether somebody means an address rather than a file."""
    return text.startswith(("http://", "https://"))


async def fetched(settings: Settings, url: str) -> FetchResult:
    """One page, through guard, robots.txt and pace, as a job would get it."""
    address = normalize(url)
    fetcher = build_fetchers(settings, RealClock(), None)[FetcherKind.HTTP]
    try:
        return await fetcher.fetch(FetchRequest(url=address, host=registrable_domain(address), pace=Pace()))
    finally:
        await fetcher.close()


def page_of(result: FetchResult, now: datetime) -> Page:
    """What came back, as a page; trouble is a person's to know."""
    if result.failure is not None:
        msg = f"{result.url} cannot be had: {result.failure} ({result.error or result.status_code})"
        raise Mistake(msg)
    return Page(
        id=0,
        url=result.url,
        final_url=result.final_url or result.url,
        status_code=result.status_code,
        body=result.body,
        charset=result.charset,
        content_type=result.content_type,
        digest=result.digest,
        fetched_at=result.requested_at or now,
    )


def page_from_file(file: Path, url: str, now: datetime) -> Page:
    """A saved page; links on it are relative to `url`."""
    if file.stat().st_size > LARGEST:
        msg = f"{file} is larger than {LARGEST // 1_000_000} MB"
        raise Mistake(msg)
    body = file.read_bytes()
    kind = mimetypes.guess_type(file.name)[0] or "text/html"
    return Page(
        id=0,
        url=url,
        final_url=url,
        status_code=200,
        body=body,
        charset=charset_of(body, kind),
        content_type=kind,
        digest=xxhash.xxh3_64_intdigest(body),
        fetched_at=now,
    )
