"""When a site refuses a page: fetch it with the paid fetcher if its source allows, else use a stored page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.policy import Policy
from tidemill.core.services.degradation import Service
from tidemill.core.source import FetcherKind, Source
from tidemill.pipeline.checkpoints import Claimed
from tidemill.pipeline.ports import Clock, Fetcher, FetchRequest, FetchResult, FetchStatus, StoredPages
from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document

MAX_STORED_AGE = timedelta(hours=24)
"""How old a stored page may be that is used while the paid fetcher is out of quota."""

OWN_FETCHERS = frozenset({FetcherKind.HTTP, FetcherKind.BROWSER})
PAID_AT_ONCE = frozenset({Failure.FORBIDDEN})
PAID_AFTER_RETRIES = frozenset({
    Failure.RATE_LIMITED, Failure.SERVER_ERROR, Failure.TIMED_OUT, Failure.CONNECTION_LOST, Failure.TRUNCATED_BODY,
})  # fmt: skip
"""Failures for which the paid fetcher is used: refusals at once, others when our own attempts are used up."""


LARGEST_NOTICE = 200_000
"""Bytes; a larger page is not a block page."""
STRUCTURED = b"application/ld+json"


@dataclass(frozen=True, slots=True)
class Fallback:
    """Fetches a page with the paid fetcher, or uses a stored one, when the usual fetcher fails.

    `may_pay` says whether a source may cost money: a person chose so, by setting or for the source.
    """

    paid: Fetcher
    may_pay: Callable[[Source], bool]
    stored: StoredPages
    clock: Clock

    async def apply(self, claimed: Claimed, request: FetchRequest, first: FetchResult, policy: Policy) -> FetchResult:
        """Return the final result of a fetch: the first one, a paid one in its place, or a stored page."""
        source = claimed.source
        if source.fetcher is FetcherKind.SCRAPINGBEE:
            return await self._or_stored(claimed, first, first)
        if source.fetcher not in OWN_FETCHERS or not self.may_pay(source):
            return first
        refusal = refusal_in(claimed, first, policy)
        if not refusal:
            return first
        plain = msgspec.structs.replace(request, etag="", last_modified="")
        paid = await self.paid.fetch(plain)
        if paid.failure is not None:
            return await self._or_stored(claimed, paid, msgspec.structs.replace(first, degraded=paid.degraded))
        is_no_better = first.failure is None and block_in(paid) is not None  # a captcha, for money this time
        return first if is_no_better else msgspec.structs.replace(paid, instead_of=refusal)

    async def _or_stored(self, claimed: Claimed, paid: FetchResult, otherwise: FetchResult) -> FetchResult:
        """Return a stored page if the paid fetcher is out of quota and one is fresh enough, else `otherwise`."""
        if paid.failure is not Failure.OUT_OF_QUOTA:
            return otherwise
        page = await self.stored.fresh(claimed.target, self.clock.now() - MAX_STORED_AGE)
        if page is None:
            return otherwise
        words = f"{paid.error}; the page of {page.fetched_at:%Y-%m-%d %H:%M} UTC serves meanwhile"
        return FetchResult(
            status=FetchStatus.OK, url=otherwise.url, final_url=otherwise.url, fetcher="stored", error=words,
            degraded=(Service.SCRAPINGBEE,), stored=page,
        )  # fmt: skip


def block_in(result: FetchResult) -> Fail | None:
    """Return the failure if the result is a block page with status 200: a captcha, a refusal, a browser check.

    Only a small page without structured data can be one; the adapter decides in the end.
    """
    if result.failure is not None or result.not_modified or "html" not in result.content_type:
        return None
    if len(result.body) > LARGEST_NOTICE or STRUCTURED in result.body:
        return None
    notice = blocked(Document(result.body, result.final_url))
    return notice if notice is not None and notice.failure is Failure.BLOCKED_PAGE else None


def refusal_in(claimed: Claimed, first: FetchResult, policy: Policy) -> str:
    """Return the site's refusal in words if it is worth paying for the page; else ''."""
    if block := block_in(first):
        return f"{block.failure}: {block.detail}"
    return f"{first.failure}: {first.error}" if is_worth_paying(claimed, first, policy) else ""


def is_worth_paying(claimed: Claimed, first: FetchResult, policy: Policy) -> bool:
    """Return whether the site refused, or failed as often as we try ourselves."""
    if first.failure in PAID_AT_ONCE:
        return True
    if first.failure not in PAID_AFTER_RETRIES:
        return False
    return claimed.job.attempts + 1 >= policy.retry_for(first.failure, claimed.job.lane).attempts


def paid_sources(how: str) -> Callable[[Source], bool]:
    """Return which sources may cost money: `never` any, `chosen` if they opt in, `always` unless they opt out."""

    def may_pay(source: Source) -> bool:
        setting = paid_setting(source.adapter_settings)
        return how != "never" and (setting if setting is not None else how == "always")

    return may_pay


def paid_setting(settings: Mapping[str, object]) -> bool | None:
    """Return a source's own setting about paying; None if it has none."""
    setting = settings.get("paid_fallback")
    return setting if isinstance(setting, bool) else None
