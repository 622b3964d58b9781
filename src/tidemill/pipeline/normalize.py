"""Normalize: what the verdicts on a page's records come to."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.outcome import Advance, Fail, Outcome, Stage
from tidemill.core.services.degradation import Service
from tidemill.core.verdict import Dropped, Quarantined
from tidemill.pipeline.checkpoints import Claimed, Judged, Parsed, Rejected
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.page_reading import ReadResult, read_page, records_to_judge
from tidemill.pipeline.recovery import missing_services


def normalize(claimed: Claimed, parsed: Parsed, deps: StageDependencies) -> Outcome:
    """Return the page's records with their verdicts.

    One bad record does not affect the others; the job fails only when the page had records and all of them
    were rejected for what they are (an agenda that is merely over is no failure).
    """
    if parsed.verdicts is None:
        task = records_to_judge(claimed, parsed, {}, asks_model=deps.asks_model)
        judged_now = judged_anew(parsed, read_page(task, deps.verticals))
        return judged_now if isinstance(judged_now, Fail) else normalize(claimed, judged_now, deps)
    accepted, rejected = parsed.verdicts.accepted, parsed.verdicts.rejected
    judged = Judged(
        parsed.page,
        f"{parsed.adapter_id}@{parsed.adapter_version}",
        accepted,
        rejected,
        parsed.found.truncated,
        parsed.found.total,
        parsed.found.next_url,
    )
    if not accepted and any(is_fault(each.verdict) for each in rejected):
        without = unavailable_services(claimed, judged, deps)
        return Fail(Failure.NOTHING_USABLE, commonest_reason(rejected), evidence=judged, degraded=without)
    return Advance(Stage.PERSIST, judged, unavailable_services(claimed, judged, deps))


def unavailable_services(claimed: Claimed, judged: Judged, deps: StageDependencies) -> tuple[Service, ...]:
    """Return the unavailable services that could have answered questions about the page's records."""
    missing = missing_services(deps.enrichment, deps.services) if deps.enrichment is not None else frozenset()
    rules = deps.enrichment.rules_for(claimed.job.vertical) if deps.enrichment is not None and missing else None
    if rules is None:
        return ()
    requests = [request for each in judged.accepted for request in rules.requests_for(each.record, claimed.source)]
    requests += [each.request for each in judged.rejected if each.request is not None]
    return tuple(sorted(missing & {request.kind.service for request in requests}))


def judged_anew(parsed: Parsed, result: ReadResult) -> Parsed | Fail:
    """Return a parsed page with the verdicts of a reader that judged its records apart from parsing it."""
    if isinstance(result, Fail):
        return result
    return msgspec.structs.replace(parsed, found=result.kept, verdicts=result.verdicts)


def is_fault(verdict: Dropped | Quarantined) -> bool:
    """Return whether a rejection means that something is wrong with the record, not just that it is not wanted."""
    return isinstance(verdict, Quarantined) or not verdict.harmless


def commonest_reason(rejected: Sequence[Rejected]) -> str:
    """Return the most common reason of the rejected records, in words."""
    (reason, count), *_ = Counter(each.verdict.reason for each in rejected).most_common(1)
    return f"none of {len(rejected)} records could be kept; {count} for {reason}"
