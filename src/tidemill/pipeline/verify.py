"""Verify: fetch records of low confidence at their own URL, within the rate limits, and report what was found."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.policy import Policy
from tidemill.core.quality.verification import Presence, VerificationCheck, VerificationResult, presence_from_answer
from tidemill.core.source import FetcherKind
from tidemill.core.urls import BadUrl, canonicalize, registrable_domain
from tidemill.pipeline.ports import Clock, Fetcher, FetchRequest, FetchResult, FetchStatus
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.pipeline.reader_functions.notices import NOTICE, PageToVerify

BATCH_SIZE = 600
MAX_PER_HOST = 120
FETCHER_FOR_CHECKS: Mapping[FetcherKind, FetcherKind] = {FetcherKind.BROWSER: FetcherKind.BROWSER}
"""The fetcher that verifies a source's records: HTTP, unless the site needs a browser. What an actor or a paid service
found is fetched from the site itself, for free."""
TIME_LIMIT = timedelta(minutes=20)
"""How long one round may take; the rest is verified in the next."""


class VerificationQueue(Protocol):
    """The repository of records to verify."""

    async def due(self, now: datetime, limit: int) -> list[VerificationCheck]:
        """Return the records to verify, the most urgent first."""
        ...

    async def of_record(self, record_id: int, now: datetime) -> list[VerificationCheck]:
        """Return one record's checks, whether or not they are due; none if it is not known or gone already."""
        ...

    async def record(self, results: Sequence[VerificationResult], now: datetime) -> int:
        """Store the results and return how many records are gone."""
        ...


class VerificationCounts(msgspec.Struct, frozen=True):
    """The results of a round of verification, counted."""

    there: int = 0
    gone: int = 0
    unknown: int = 0

    def __str__(self) -> str:
        """In words."""
        return f"{self.there} still there, {self.gone} gone, {self.unknown} could not be told"


class Verifier:
    """Verifies records, hosts in parallel and one request at a time per host, through the usual gates."""

    def __init__(
        self,
        queue: VerificationQueue,
        fetchers: Mapping[FetcherKind, Fetcher],
        policy: Policy,
        clock: Clock,
        vertical: str,
        readers: FunctionReaders,
    ) -> None:
        """`policy` is the vertical's: its pace where a source sets none, its time-out. `readers` read the pages."""
        self._queue = queue
        self._fetchers = fetchers
        self._policy = policy
        self._clock = clock
        self._vertical = vertical
        self._readers = readers

    async def verify(self) -> VerificationCounts:
        """Verify every record that is due, as far as time and rate limits allow.

        A record that one source dropped is verified at its other sources at once: it is gone only if all say so.
        """
        began = self._clock.now()
        results = await self._check_all(await self._queue.due(began, BATCH_SIZE), began)
        checked, gone = _sighting_ids(results), _gone_listings(results)
        while gone:
            wanted = await self._queue.due(self._clock.now(), BATCH_SIZE)
            rest = [each for each in wanted if each.listing_id in gone and each.sighting_id not in checked]
            more = await self._check_all(rest, began)
            results += more
            checked, gone = checked | _sighting_ids(more), _gone_listings(more)
        return _counted(results)

    async def verify_record(self, record_id: int) -> VerificationCounts:
        """Verify one record now, whether or not that is due."""
        began = self._clock.now()
        return _counted(await self._check_all(await self._queue.of_record(record_id, began), began))

    async def _check_all(self, checks: Sequence[VerificationCheck], began: datetime) -> list[VerificationResult]:
        by_host: dict[str, list[VerificationCheck]] = {}
        for check in checks:
            by_host.setdefault(host_or_empty(check.url), []).append(check)
        rounds = await asyncio.gather(*(self._check_host(host, some, began) for host, some in sorted(by_host.items())))
        return [one for some in rounds for one in some]

    async def _check_host(
        self, host: str, checks: Sequence[VerificationCheck], began: datetime
    ) -> list[VerificationResult]:
        """Verify a host's records one after the other, and store each result at once."""
        results = []
        for check in checks[:MAX_PER_HOST]:
            if self._clock.now() - began > TIME_LIMIT:
                break
            result = await self._check(host, check)
            await self._queue.record([result], self._clock.now())
            results.append(result)
        return results

    async def _check(self, host: str, check: VerificationCheck) -> VerificationResult:
        source = check.source
        fetcher = self._fetchers.get(FETCHER_FOR_CHECKS.get(source.fetcher, FetcherKind.HTTP))
        if fetcher is None or not host:
            return VerificationResult(check.listing_id, check.sighting_id, Presence.UNKNOWN, "no way to ask")
        request = FetchRequest(
            url=check.url,
            host=host,
            pace=source.pace or self._policy.pace,
            timeout=source.timeout or self._policy.timeout,
            max_bytes=self._policy.max_page_bytes,
            headers=source.headers,
            obey_robots=True,
        )
        presence, words = await self._judge(check.url, await fetcher.fetch(request))
        return VerificationResult(check.listing_id, check.sighting_id, presence, words)

    async def _judge(self, url: str, result: FetchResult) -> tuple[Presence, str]:
        if result.status is not FetchStatus.OK:
            presence, words = presence_from_answer(result.status_code, clean=False, notice="")
            return (
                presence,
                words if presence is Presence.GONE else f"{result.failure or result.status} {result.error}".strip(),
            )
        page = page_of(result, self._clock.now())
        notice = await self._readers.call(NOTICE, PageToVerify(self._vertical, page))
        if isinstance(notice, Fail):
            return Presence.UNKNOWN, f"the page cannot be read: {notice.detail or notice.failure}"
        if notice is None:
            return Presence.UNKNOWN, "a block page or an empty one"
        if not notice and was_redirected(url, result.final_url):
            return Presence.UNKNOWN, f"led to {result.final_url[:200]}"
        return presence_from_answer(result.status_code, clean=result.status_code == 200, notice=notice)  # noqa: PLR2004 - HTTP's OK


def _sighting_ids(results: Sequence[VerificationResult]) -> set[int]:
    return {one.sighting_id for one in results}


def _gone_listings(results: Sequence[VerificationResult]) -> set[int]:
    return {one.listing_id for one in results if one.presence is Presence.GONE}


def page_of(result: FetchResult, now: datetime) -> Page:
    """Return the fetch result as a page, to be read and not stored."""
    return Page(
        id=0,
        url=result.url,
        final_url=result.final_url,
        status_code=result.status_code,
        body=result.body,
        charset=result.charset,
        content_type=result.content_type,
        digest=result.digest,
        fetched_at=now,
    )


def host_or_empty(url: str) -> str:
    """Return the host whose pace a URL counts against; '' for an invalid URL, which must not stop the others."""
    try:
        return registrable_domain(url)
    except BadUrl:
        return ""


def was_redirected(url: str, final_url: str) -> bool:
    """Return whether a redirect led to another page, which says nothing about this record."""
    try:
        return bool(final_url) and canonicalize(final_url) != canonicalize(url)
    except BadUrl:
        return True


def _counted(results: Sequence[VerificationResult]) -> VerificationCounts:
    found = [one.presence for one in results]
    return VerificationCounts(found.count(Presence.THERE), found.count(Presence.GONE), found.count(Presence.UNKNOWN))
