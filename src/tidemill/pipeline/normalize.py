"""Normalize: let the vertical's rules judge each record on its own."""

from collections import Counter

import msgspec

from tidemill.core.degradation import Service
from tidemill.core.failure import Failure
from tidemill.core.outcome import Advance, Fail, Outcome, Stage
from tidemill.core.record import RawRecord
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.checkpoints import Claimed, Judged, Parsed, Rejected
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.hints import missing_services, second_look

NORMALIZATION_FAILED = "NORMALIZATION_FAILED"

encode = msgspec.json.Encoder().encode


def normalize(claimed: Claimed, parsed: Parsed, tools: StageDependencies) -> Outcome:
    """Judge every raw record on the page: keep it, drop it or set it aside.

    One bad record never costs us its neighbours; the job fails only when the page had records and all of them
    were rejected for what they are (an agenda that is merely over is no failure).
    """
    vertical = tools.verticals[claimed.job.vertical]
    context = Context(claimed.source, parsed.page.final_url, parsed.page.fetched_at, claimed.target.parameters)
    accepted: list[Accepted] = []
    rejected: list[Rejected] = []
    for raw in parsed.found.records:
        verdict, want = judge(vertical, raw, context), None
        if tools.aid is not None and isinstance(verdict, Dropped):
            verdict, want = second_look(vertical, raw, verdict, context, tools.aid)
        if isinstance(verdict, Accepted):
            accepted.append(Accepted(verdict.identity, verdict.record, encode(verdict.record)))
        else:
            rejected.append(Rejected(raw, verdict, want))

    judged = Judged(
        parsed.page,
        f"{parsed.adapter_id}@{parsed.adapter_version}",
        accepted,
        rejected,
        parsed.found.truncated,
        parsed.found.total,
        parsed.found.next_url,
    )
    if not accepted and any(is_telling(each.verdict) for each in rejected):
        without = done_without(claimed, judged, tools)
        return Fail(Failure.NOTHING_USABLE, commonest_reason(rejected), evidence=judged, degraded=without)
    return Advance(Stage.PERSIST, judged, done_without(claimed, judged, tools))


def done_without(claimed: Claimed, judged: Judged, tools: StageDependencies) -> tuple[Service, ...]:
    """The services that could have said more about the page's records, and do not answer."""
    missing = missing_services(tools.aid, tools.services) if tools.aid is not None else frozenset()
    enriching = tools.aid.of(claimed.job.vertical) if tools.aid is not None and missing else None
    if enriching is None:
        return ()
    wants = [want for each in judged.accepted for want in enriching.requests_for(each.record, claimed.source)]
    wants += [each.want for each in judged.rejected if each.want is not None]
    return tuple(sorted(missing & {want.kind.service for want in wants}))


def judge(vertical: Vertical, raw: RawRecord, context: Context) -> Verdict:
    """The vertical's verdict; a rule that crashes sets its record aside for a person."""
    try:
        return vertical.judge(raw, context)
    except Exception as error:  # noqa: BLE001 - one record's crash must not cost its neighbours
        return Quarantined(NORMALIZATION_FAILED, f"{type(error).__name__}: {error}"[:500])


def is_telling(verdict: Dropped | Quarantined) -> bool:
    """Whether the rejection says that something is wrong with the record, not just that it is of no use now."""
    return isinstance(verdict, Quarantined) or not verdict.harmless


def commonest_reason(rejected: list[Rejected]) -> str:
    """The reason that most of the rejected share."""
    (reason, count), *_ = Counter(each.verdict.reason for each in rejected).most_common(1)
    return f"none of {len(rejected)} records could be kept; {count} for {reason}"
