"""Recent events that matter to a person, in words."""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from tidemill.pipeline.happenings import (
    AdapterDisabled,
    BreakerMoved,
    ClockJumped,
    DiscoverySpilled,
    DriftNoticed,
    EnqueueRejected,
    GradeMoved,
    Happening,
    IncidentEnded,
    IncidentOpened,
    JobDead,
    JobsRescued,
    LeaseLost,
    Overdue,
    PartCrashed,
    PersonNeeded,
    PlaceSearched,
    RecoveryBegun,
    RecoveryExhausted,
    RecoveryJudged,
    RunClosed,
    ServiceDegraded,
    ServiceRestored,
    StoreTrouble,
)
from tidemill.web.portal.filters import colour


class News(msgspec.Struct, frozen=True):
    """One recent event."""

    at: datetime
    kind: str
    colour: str
    words: str


def news(happenings: Iterable[Happening], names: Mapping[int, str]) -> list[News]:
    """Return the events that matter to a person; `names` are the sources' names."""
    found = (_news_of(each, names) for each in happenings)
    return [each for each in found if each is not None]


def _news_of(happening: Happening, names: Mapping[int, str]) -> News | None:  # noqa: C901, PLR0911, PLR0912 - a table
    match happening:
        case RunClosed(at=at, summary=run):
            counts = run.counts
            words = f"{run.source_name}: {counts.urls_succeeded} of {counts.urls_attempted} pages"
            new = f", {counts.records_inserted} new" if counts.records_inserted else ""
            return News(at, "run", colour(run.status), words + new)
        case JobDead(at=at, source_id=source, failure=failure):
            return News(at, "dead letter", "bad", f"{_name(names, source)}: {failure.replace('_', ' ')}")
        case PersonNeeded(at=at, source_id=source, failure=failure, detail=detail):
            words = f"{_name(names, source)}: {failure.replace('_', ' ')} ({detail}); trying again does not mend it"
            return News(at, "look at it", "bad", words)
        case BreakerMoved(at=at, source_id=source, after=after):
            return News(at, "breaker", colour(after), f"{_name(names, source)}: {after.lower().replace('_', ' ')}")
        case JobsRescued(at=at, jobs=jobs, reason=reason):
            return News(at, "rescue", "warn", f"{jobs} jobs freed: {reason}")
        case LeaseLost(at=at, job_id=job):
            return News(at, "fence", "warn", f"job {job} had changed hands; what came late was not written")
        case EnqueueRejected(at=at, rejected=rejected, reason=reason):
            return News(at, "queue", "warn", f"{rejected} targets turned away: {reason}")
        case StoreTrouble(at=at, detail=detail):
            return News(at, "database", "bad", detail)
        case ClockJumped(at=at, seconds=seconds, detail=detail):
            return News(at, "clock", "warn", f"{seconds:+.0f} s: {detail}")
        case PartCrashed(at=at, part=part, detail=detail):
            return News(at, "crash", "bad", f"{part}: {detail.partition(chr(10))[0]}")
        case DriftNoticed(at=at, adapter_id=adapter, source_id=source, rule=rule, detail=detail, is_over=over):
            words = f"{adapter} on {_name(names, source)}: {rule}, {detail}"
            return News(at, "drift", "good" if over else "warn", words)
        case AdapterDisabled(at=at, adapter_id=adapter, source_id=source, scope=scope, detail=detail):
            what = f"adapter {adapter}" if scope == "adapter" else f"source {_name(names, source)}"
            return News(at, "switched off", "bad", f"{what}: {detail}")
        case Overdue(at=at, subject=subject, detail=detail):
            return News(at, "overdue", "bad", f"{subject}: {detail}")
        case PlaceSearched(at=at, place=place, looked_at=looked_at, found=found) if looked_at:
            return News(at, "discovery", "good", f"{place}: {looked_at} sites looked at, {found} candidates wait")
        case DiscoverySpilled(at=at, file=file, detail=detail):
            return News(at, "discovery", "bad", f"what was found is in {file}: {detail}")
        case GradeMoved(at=at, before=before, after=after, reason=reason):
            return News(at, "live", "good" if after == "healthy" else "bad", f"{before} to {after}: {reason}")
        case RecoveryBegun(at=at, action=action, trigger=trigger):
            return News(at, "recovery", "warn", f"{action}: {trigger}")
        case RecoveryJudged(at=at, action=action, outcome=outcome, seconds=seconds):
            return News(
                at, "recovery", "good" if outcome == "success" else "warn", f"{action}: {outcome} after {seconds:.0f} s"
            )
        case RecoveryExhausted(at=at, detail=detail):
            return News(at, "live", "bad", detail)
        case IncidentOpened(at=at, severity=severity, alert=alert, cause=cause, detail=detail):
            return News(at, "incident", "bad", f"{severity} {alert.replace('_', ' ')}, {cause}: {detail}")
        case IncidentEnded(at=at, severity=severity, alert=alert, cause=cause):
            return News(at, "incident", "good", f"over: {severity} {alert.replace('_', ' ')}, {cause}")
        case ServiceDegraded(at=at, service=service, reason=reason):
            return News(at, "service", "warn", f"{service} is degraded: {reason}")
        case ServiceRestored(at=at, service=service):
            return News(at, "service", "good", f"{service} works again")
        case _:
            return None


def _name(names: Mapping[int, str], source_id: int) -> str:
    return names.get(source_id, f"source {source_id}")
