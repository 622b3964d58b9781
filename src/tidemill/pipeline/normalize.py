"""Normalize: what the verdicts on a page's records come to."""

import msgspec

from tidemill.core.outcome import Advance, Fail, Outcome, Stage
from tidemill.core.quality.readings import ReadingShape, poorer_reading, shape_of
from tidemill.core.services.degradation import Service
from tidemill.core.verdict import is_fault
from tidemill.pipeline.checkpoints import Claimed, Judged, Parsed
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.page_reading import ReadResult, read_page, records_to_judge
from tidemill.pipeline.recovery import missing_services


def normalize(claimed: Claimed, parsed: Parsed, deps: StageDependencies) -> Outcome:
    """Return the page's records with their verdicts.

    One bad record does not affect the others, and a rejected record is no failure of the job: it is counted and
    stored with its reason. A page whose records were all rejected for what they are is marked `unusable`, which
    drift detection counts (an agenda that is merely over is not).
    """
    if parsed.verdicts is None:
        task = records_to_judge(claimed, parsed, {}, asks_model=deps.asks_model)
        judged_now = judged_anew(parsed, read_page(task, deps.verticals))
        return judged_now if isinstance(judged_now, Fail) else normalize(claimed, judged_now, deps)
    accepted, rejected = parsed.verdicts.accepted, parsed.verdicts.rejected
    found = parsed.found
    shape = shape_of(found.strategy, found.records, found.fields) if accepted else None
    judged = Judged(
        parsed.page,
        f"{parsed.adapter_id}@{parsed.adapter_version}",
        accepted,
        rejected,
        parsed.found.truncated,
        parsed.found.total,
        parsed.found.next_url,
        unusable=not accepted and any(is_fault(each.verdict) for each in rejected),
        shape=shape,
        poorer=poorer_reading(shape, last_shape(claimed, parsed)),
    )
    return Advance(Stage.PERSIST, judged, unavailable_services(claimed, judged, deps))


def last_shape(claimed: Claimed, parsed: Parsed) -> ReadingShape | None:
    """Return how the last good page of the target was read; None if another adapter read it."""
    target = claimed.target
    is_same = (target.good_reader or "").partition("@")[0] == parsed.adapter_id
    return target.good_shape if is_same else None


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
