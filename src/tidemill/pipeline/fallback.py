"""When a site refuses us: pay for the page where its source allows that, else let a stored one serve."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from tidemill.core.degradation import Service
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.policy import Policy
from tidemill.core.source import FetcherKind, Source
from tidemill.pipeline.checkpoints import Claimed
from tidemill.pipeline.ports import Clock, Fetcher, FetchRequest, FetchResult, FetchStatus, StoredPages
from tidemill.reading.blocked import blocked
from tidemill.reading.document import Document

SERVES_FOR = timedelta(hours=24)
"""How old a stored page may be that serves while the paid fetcher is out of quota."""

OURS = frozenset({FetcherKind.HTTP, FetcherKind.BROWSER})
AT_ONCE = frozenset({Failure.FORBIDDEN})
IN_THE_END = frozenset({
    Failure.RATE_LIMITED, Failure.SERVER_ERROR, Failure.TIMED_OUT, Failure.CONNECTION_LOST, Failure.TRUNCATED_BODY,
})  # fmt: skip
"""What the paid fetcher is asked for: a refusal at once, other failures when our own tries are used up."""


LARGEST_NOTICE = 200_000
"""Bytes; a larger page is no mere notice that we are blocked."""
STRUCTURED = b"application/ld+json"


@dataclass(frozen=True, slots=True)
class Fallback:
    """The paid fetcher and the stored pages behind the usual fetchers.

    `wanted` says whether a source may cost money: a person chose so, by setting or for the source.
    """

    paid: Fetcher
    wanted: Callable[[Source], bool]
    stored: StoredPages
    clock: Clock

    async def after(self, claimed: Claimed, request: FetchRequest, first: FetchResult, policy: Policy) -> FetchResult:
        """What comes of a fetch in the end: the first answer, a paid one in its place, or a stored page."""
        source = claimed.source
        if source.fetcher is FetcherKind.SCRAPINGBEE:
            return await self._or_stored(claimed, first, first)
        if source.fetcher not in OURS or not self.wanted(source):
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
        """A stored page, if quota is what was missing and there is one fresh enough."""
        if paid.failure is not Failure.OUT_OF_QUOTA:
            return otherwise
        page = await self.stored.fresh(claimed.target, self.clock.now() - SERVES_FOR)
        if page is None:
            return otherwise
        words = f"{paid.error}; the page of {page.fetched_at:%Y-%m-%d %H:%M} UTC serves meanwhile"
        return FetchResult(
            status=FetchStatus.OK, url=otherwise.url, final_url=otherwise.url, fetcher="stored", error=words,
            degraded=(Service.SCRAPINGBEE,), stored=page,
        )  # fmt: skip


def block_in(result: FetchResult) -> Fail | None:
    """The notice that came as if it were the page: a captcha, a refusal, a browser check, with status 200.

    Only a small page without structured data can be one; what it is in the end, its adapter says.
    """
    if result.failure is not None or result.not_modified or "html" not in result.content_type:
        return None
    if len(result.body) > LARGEST_NOTICE or STRUCTURED in result.body:
        return None
    notice = blocked(Document(result.body, result.final_url))
    return notice if notice is not None and notice.failure is Failure.BLOCKED_PAGE else None


def refusal_in(claimed: Claimed, first: FetchResult, policy: Policy) -> str:
    """What the site said instead of giving the page, if that is worth paying for; '' when it is not."""
    if block := block_in(first):
        return f"{block.failure}: {block.detail}"
    return f"{first.failure}: {first.error}" if is_worth_paying(claimed, first, policy) else ""


def is_worth_paying(claimed: Claimed, first: FetchResult, policy: Policy) -> bool:
    """Whether the site refused, or has failed as often as we try by ourselves."""
    if first.failure in AT_ONCE:
        return True
    if first.failure not in IN_THE_END:
        return False
    return claimed.job.attempts + 1 >= policy.retry_for(first.failure, claimed.job.lane).attempts


def chosen(how: str) -> Callable[[Source], bool]:
    """Which sources may cost money: `never` any, `chosen` those that say so, `always` all but those that refuse."""

    def wanted(source: Source) -> bool:
        said = says(source.adapter_settings)
        return how != "never" and (said if said is not None else how == "always")

    return wanted


def says(settings: Mapping[str, object]) -> bool | None:
    """What a source's own settings say about paying."""
    said = settings.get("paid_fallback")
    return said if isinstance(said, bool) else None
