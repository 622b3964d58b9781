"""Normalize: judge each record by its vertical's rules."""

import msgspec

from tidemill.core.outcome import Advance, Outcome, Stage
from tidemill.core.record import RawRecord
from tidemill.core.services.degradation import Service
from tidemill.core.verdict import Accepted, Dropped, Quarantined, Verdict, is_fault
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.checkpoints import Claimed, Judged, Parsed, Rejected
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.recovery import judge_with_answer, missing_services

NORMALIZATION_FAILED = "NORMALIZATION_FAILED"

encode = msgspec.json.Encoder().encode


def normalize(claimed: Claimed, parsed: Parsed, deps: StageDependencies) -> Outcome:
    """Judge every raw record on the page: accept, drop or quarantine it.

    One bad record does not affect the others, and a rejected record is no failure of the job: it is counted and
    stored with its reason. A page whose records were all rejected for what they are is marked `unusable`, which
    drift detection counts (an agenda that is merely over is not).
    """
    vertical = deps.verticals[claimed.job.vertical]
    context = Context(claimed.source, parsed.page.final_url, parsed.page.fetched_at, claimed.target.parameters)
    accepted: list[Accepted] = []
    rejected: list[Rejected] = []
    for raw in parsed.found.records:
        verdict, request = judge(vertical, raw, context), None
        if deps.enrichment is not None and isinstance(verdict, Dropped):
            verdict, request = judge_with_answer(vertical, raw, verdict, context, deps.enrichment)
        if isinstance(verdict, Accepted):
            accepted.append(Accepted(verdict.identity, verdict.record, encode(verdict.record)))
        else:
            rejected.append(Rejected(raw, verdict, request))

    judged = Judged(
        parsed.page,
        f"{parsed.adapter_id}@{parsed.adapter_version}",
        accepted,
        rejected,
        parsed.found.truncated,
        parsed.found.total,
        parsed.found.next_url,
        unusable=not accepted and any(is_fault(each.verdict) for each in rejected),
    )
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


def judge(vertical: Vertical, raw: RawRecord, context: Context) -> Verdict:
    """Return the vertical's verdict; a rule that crashes quarantines its record."""
    try:
        return vertical.judge(raw, context)
    except Exception as error:  # noqa: BLE001 - one record's crash must not cost its neighbours
        return Quarantined(NORMALIZATION_FAILED, f"{type(error).__name__}: {error}"[:500])
