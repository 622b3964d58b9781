"""Verify: look fading records up at their own address, politely, and say what was found."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.page import Page
from tidemill.core.policy import Policy
from tidemill.core.source import FetcherKind
from tidemill.core.urls import BadUrl, canonicalize, registrable_domain
from tidemill.core.verification import Presence, VerificationCheck, VerificationResult, presence_from_answer
from tidemill.pipeline.ports import Clock, Fetcher, FetchRequest, FetchResult, FetchStatus

AT_ONCE = 600
PER_HOST = 120
LOOKS_BY: Mapping[FetcherKind, FetcherKind] = {FetcherKind.BROWSER: FetcherKind.BROWSER}
"""How a home of a source is looked up: plainly, but for sites that show nothing without a browser. What an actor or a
paid service found is asked for at the site itself, at nobody's cost."""
LONGEST = timedelta(minutes=20)
"""How long one round may take; what is left is looked up in the next."""


class VerificationQueue(Protocol):
    """The repository's side of verification."""

    async def wanted(self, now: datetime, limit: int) -> list[VerificationCheck]:
        """Records that fade, the most wanted first."""
        ...

    async def record(self, looked: Sequence[VerificationResult], now: datetime) -> int:
        """Write what was found; answers how many are gone."""
        ...


class Verified(msgspec.Struct, frozen=True):
    """What a round of verification found."""

    there: int = 0
    gone: int = 0
    unknown: int = 0

    def __str__(self) -> str:
        """In words."""
        return f"{self.there} still there, {self.gone} gone, {self.unknown} could not be told"


ReadNotice = Callable[[Page], str | None]
"""What a page that answered says of a removal: words, '' for none; None if the page is a block page or the like."""


class Verifier:
    """Looks records up, one host at a time each, every request through the same gates as any other."""

    def __init__(
        self,
        ledger: VerificationQueue,
        fetchers: Mapping[FetcherKind, Fetcher],
        policy: Policy,
        clock: Clock,
        read_notice: ReadNotice,
    ) -> None:
        """`policy` is the vertical's: its pace where a source sets none, its time-out."""
        self._ledger = ledger
        self._fetchers = fetchers
        self._policy = policy
        self._clock = clock
        self._read_notice = read_notice

    async def verify(self) -> Verified:
        """One round: everything that fades, as far as time and politeness allow.

        What one source dropped is asked for at the next that shows it, at once: only their common word is the end.
        """
        began = self._clock.now()
        looked = await self._ask_all(await self._ledger.wanted(began, AT_ONCE), began)
        asked, dropped = _keys(looked), _dropped(looked)
        while dropped:
            wanted = await self._ledger.wanted(self._clock.now(), AT_ONCE)
            rest = [each for each in wanted if each.listing_id in dropped and each.sighting_id not in asked]
            more = await self._ask_all(rest, began)
            looked += more
            asked, dropped = asked | _keys(more), _dropped(more)
        fates = [one.presence for one in looked]
        return Verified(fates.count(Presence.THERE), fates.count(Presence.GONE), fates.count(Presence.UNKNOWN))

    async def _ask_all(self, checks: Sequence[VerificationCheck], began: datetime) -> list[VerificationResult]:
        by_host: dict[str, list[VerificationCheck]] = {}
        for check in checks:
            by_host.setdefault(host_of(check.url), []).append(check)
        rounds = await asyncio.gather(*(self._ask(host, some, began) for host, some in sorted(by_host.items())))
        return [one for some in rounds for one in some]

    async def _ask(self, host: str, checks: Sequence[VerificationCheck], began: datetime) -> list[VerificationResult]:
        """Look up a host's records one after the other; each is written down as soon as it is known."""
        looked = []
        for check in checks[:PER_HOST]:
            if self._clock.now() - began > LONGEST:
                break
            found = await self._look(host, check)
            await self._ledger.record([found], self._clock.now())
            looked.append(found)
        return looked

    async def _look(self, host: str, check: VerificationCheck) -> VerificationResult:
        source = check.source
        fetcher = self._fetchers.get(LOOKS_BY.get(source.fetcher, FetcherKind.HTTP))
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
        fate, words = self._judge(check.url, await fetcher.fetch(request))
        return VerificationResult(check.listing_id, check.sighting_id, fate, words)

    def _judge(self, url: str, result: FetchResult) -> tuple[Presence, str]:
        if result.status is not FetchStatus.OK:
            fate, words = presence_from_answer(result.status_code, clean=False, notice="")
            return fate, words if fate is Presence.GONE else f"{result.failure or result.status} {result.error}".strip()
        notice = self._read_notice(page_of(result, self._clock.now()))
        if notice is None:
            return Presence.UNKNOWN, "a block page or an empty one"
        if not notice and led_elsewhere(url, result.final_url):
            return Presence.UNKNOWN, f"led to {result.final_url[:200]}"
        return presence_from_answer(result.status_code, clean=result.status_code == 200, notice=notice)  # noqa: PLR2004 - HTTP's OK


def _keys(looked: Sequence[VerificationResult]) -> set[int]:
    return {one.sighting_id for one in looked}


def _dropped(looked: Sequence[VerificationResult]) -> set[int]:
    return {one.listing_id for one in looked if one.presence is Presence.GONE}


def page_of(result: FetchResult, now: datetime) -> Page:
    """The answer as a page that can be read; it is looked at and not kept."""
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


def host_of(url: str) -> str:
    """Whose pace an address falls under; '' for one that nobody can be asked at, which must not stop the others."""
    try:
        return registrable_domain(url)
    except BadUrl:
        return ""


def led_elsewhere(url: str, final_url: str) -> bool:
    """Whether a redirect led to another page: a search for other homes says nothing about this one."""
    try:
        return bool(final_url) and canonicalize(final_url) != canonicalize(url)
    except BadUrl:
        return True
