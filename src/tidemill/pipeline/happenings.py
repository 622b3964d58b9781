"""Typed events that the system announces; one listener logs them, one counts them, one alerts."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.health.grades import HealthGrade
from tidemill.core.health.recovery import RecoveryAction, RecoveryOutcome
from tidemill.core.outcome import Stage
from tidemill.core.run import RunSummary
from tidemill.core.services.degradation import Service


class StageDone(msgspec.Struct, frozen=True, tag=True):
    """A job finished a stage, and its output is stored; `ends` says that the job is done.

    `milliseconds` is how long reading the page took, for the stage that reads it.
    """

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    stage: Stage
    ends: bool = False
    adapter_id: str = ""
    milliseconds: int | None = None


class PageGot(msgspec.Struct, frozen=True, tag=True):
    """A page was fetched and stored; it waited for its host's pace for `waited_ms`."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    host: str
    status_code: int
    size: int
    milliseconds: int
    unchanged: bool
    adapter_id: str = ""
    waited_ms: int = 0


class JobWaits(msgspec.Struct, frozen=True, tag=True):
    """A job waits: for a rate limit, a breaker or a retry."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    host: str
    stage: Stage
    until: datetime
    reason: str
    failure: Failure | None
    adapter_id: str = ""


class JobRefused(msgspec.Struct, frozen=True, tag=True):
    """A job was refused by a gate: robots, compliance, or switched off."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    host: str
    failure: Failure
    detail: str
    adapter_id: str = ""


class JobDead(msgspec.Struct, frozen=True, tag=True):
    """A job has no attempts left and became a dead letter."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    host: str
    stage: Stage
    failure: Failure
    detail: str
    adapter_id: str = ""


class PersonNeeded(msgspec.Struct, frozen=True, tag=True):
    """A failure that retries cannot fix: a person should look at the source at once."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    host: str
    failure: Failure
    detail: str
    adapter_id: str = ""


class LeaseLost(msgspec.Struct, frozen=True, tag=True):
    """A worker finished a stage of a job that it no longer leased; nothing was written."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    stage: Stage
    adapter_id: str = ""


class BreakerMoved(msgspec.Struct, frozen=True, tag=True):
    """A source's circuit breaker changed state."""

    at: datetime
    source_id: int
    before: str
    after: str
    until: datetime | None


class RecordsJudged(msgspec.Struct, frozen=True, tag=True):
    """A page's records got their verdicts; of the `accepted` ones the repository may still turn some away.

    `reasons` counts the others: `dropped` or `quarantined`, the rule's reason, and how many.
    """

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    vertical: str
    accepted: int
    dropped: int
    quarantined: int
    adapter_id: str = ""
    reasons: tuple[tuple[str, str, int], ...] = ()


class RecordsKept(msgspec.Struct, frozen=True, tag=True):
    """A page's records were written to their repository; it turned away the `dropped` and `quarantined` ones."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    vertical: str
    inserted: int
    updated: int
    unchanged: int
    repeated: int
    dropped: int
    quarantined: int
    adapter_id: str = ""


class RunOpened(msgspec.Struct, frozen=True, tag=True):
    """A run was created with its jobs."""

    at: datetime
    run_id: int
    source_id: int
    trigger: str
    jobs: int
    source_name: str = ""


class RunExtended(msgspec.Struct, frozen=True, tag=True):
    """Jobs were added to a run that goes on: more of the targets that were due when it began."""

    at: datetime
    run_id: int
    source_id: int
    trigger: str
    jobs: int


class RunClosed(msgspec.Struct, frozen=True, tag=True):
    """A run ended, with its summary."""

    at: datetime
    summary: RunSummary


class DriftNoticed(msgspec.Struct, frozen=True, tag=True):
    """An adapter drifted from its site, or fits again (`is_over`); announced once, not with every run."""

    at: datetime
    run_id: int
    source_id: int
    adapter_id: str
    rule: str
    field: str
    detail: str
    is_over: bool


class AdapterDisabled(msgspec.Struct, frozen=True, tag=True):
    """Drift detection switched an adapter off, or only the source that it no longer fits (`scope`)."""

    at: datetime
    run_id: int
    source_id: int
    adapter_id: str
    scope: str
    rule: str
    detail: str


class EnqueueRejected(msgspec.Struct, frozen=True, tag=True):
    """The queue was full: so many targets were rejected, to be retried later."""

    at: datetime
    reason: str
    rejected: int
    retry_after_seconds: float


class TickRan(msgspec.Struct, frozen=True, tag=True):
    """A chore ran in its time slot."""

    at: datetime
    name: str
    slot: datetime
    status: str
    detail: str


class JobsRescued(msgspec.Struct, frozen=True, tag=True):
    """A worker died or stalled; its jobs were freed to resume at their last checkpoint."""

    at: datetime
    worker_id: int
    jobs: int
    reason: str


class JobsStale(msgspec.Struct, frozen=True, tag=True):
    """Jobs of a source waited for too long and were given up; a person may requeue them."""

    at: datetime
    source_id: int
    jobs: int
    adapter_id: str = ""


class StoreTrouble(msgspec.Struct, frozen=True, tag=True):
    """The database refused a write or a read; it is retried."""

    at: datetime
    detail: str


class ChangesCaughtUp(msgspec.Struct, frozen=True, tag=True):
    """The database was away while things were watched; all that changed meanwhile is written now, in order."""

    at: datetime
    away_seconds: float
    changes: int


class ClockJumped(msgspec.Struct, frozen=True, tag=True):
    """Somebody set this machine's clock, forward or back by so many seconds; the work goes on."""

    at: datetime
    seconds: float
    detail: str


class PartCrashed(msgspec.Struct, frozen=True, tag=True):
    """A part of the engine crashed and was restarted."""

    at: datetime
    part: str
    detail: str


class Overdue(msgspec.Struct, frozen=True, tag=True):
    """Scheduled work has not happened."""

    at: datetime
    subject: str
    detail: str


class ServiceDegraded(msgspec.Struct, frozen=True, tag=True):
    """An outside service stopped working; `fallback` is what happens instead."""

    at: datetime
    service: Service
    reason: str
    fallback: str


class ServiceRestored(msgspec.Struct, frozen=True, tag=True):
    """A service works again, after an outage since `since`."""

    at: datetime
    service: Service
    since: datetime


class PlaceSearched(msgspec.Struct, frozen=True, tag=True):
    """Discovery searched a place: how many sites were inspected, and how many wait for a person."""

    at: datetime
    place: str
    looked_at: int
    found: int
    detail: str


class DiscoverySpilled(msgspec.Struct, frozen=True, tag=True):
    """Discovery could not write to the database; its results are in a file, to be imported by a person."""

    at: datetime
    file: str
    detail: str


class GradeMoved(msgspec.Struct, frozen=True, tag=True):
    """The grade of live polling moved: healthy, degraded, failing, recovering."""

    at: datetime
    before: HealthGrade
    after: HealthGrade
    reason: str


class RecoveryBegun(msgspec.Struct, frozen=True, tag=True):
    """The watchdog or a person had browsers, contexts or the live lane started anew."""

    at: datetime
    action: RecoveryAction
    trigger: str


class RecoveryJudged(msgspec.Struct, frozen=True, tag=True):
    """A recovery was judged by the grade: success, partial or failed."""

    at: datetime
    action: RecoveryAction
    outcome: RecoveryOutcome
    seconds: float


class RecoveryExhausted(msgspec.Struct, frozen=True, tag=True):
    """Live data is failing and the watchdog has done what it may: a person must look at once."""

    at: datetime
    detail: str


class PagePolled(msgspec.Struct, frozen=True, tag=True):
    """The live lane asked for a page: how that ended, and whether it moved the thing."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    host: str
    status_code: int
    milliseconds: int
    changed: bool
    failure: Failure | None = None
    adapter_id: str = ""


class ChangeLogged(msgspec.Struct, frozen=True, tag=True):
    """A change of a watched thing is in the log, so many seconds after its page was asked for."""

    at: datetime
    vertical: str
    key: str
    seq: int
    change: str
    source: str
    seconds: float


class LifeMoved(msgspec.Struct, frozen=True, tag=True):
    """A watched thing's life moved: it was discovered (from ''), became active, was paused, completed or archived."""

    at: datetime
    vertical: str
    key: str
    before: str
    after: str
    reason: str


class WatchLost(msgspec.Struct, frozen=True, tag=True):
    """This process no longer watches a thing that it did watch; it writes nothing more about it."""

    at: datetime
    job_id: int
    run_id: int
    source_id: int
    reason: str


class BrowserRecycled(msgspec.Struct, frozen=True, tag=True):
    """A browser was replaced: it was too old, had shown enough pages, took too much memory, or did not answer."""

    at: datetime
    reason: str


class WatchPaused(msgspec.Struct, frozen=True, tag=True):
    """A watched thing failed so often that it is left alone for a while."""

    at: datetime
    vertical: str
    key: str
    reason: str


class ConflictFound(msgspec.Struct, frozen=True, tag=True):
    """Sources disagree about a thing; the one that is trusted more is believed."""

    at: datetime
    vertical: str
    key: str
    detail: str


class TokenRefused(msgspec.Struct, frozen=True, tag=True):
    """Somebody showed a token or signed in in vain; the token itself is never told."""

    at: datetime
    address: str
    reason: str


class ExportDone(msgspec.Struct, frozen=True, tag=True):
    """Data was exported: by whom, which, and how many records."""

    at: datetime
    actor: str
    dataset: str
    format: str
    records: int


class DiskLow(msgspec.Struct, frozen=True, tag=True):
    """A disk that we write to has little space left."""

    at: datetime
    folder: str
    free_bytes: int
    free_share: float


class ClockSkewed(msgspec.Struct, frozen=True, tag=True):
    """A process's clock is off the database's or another process's."""

    at: datetime
    process: str
    detail: str


class IncidentOpened(msgspec.Struct, frozen=True, tag=True):
    """People are to know: an alert's condition holds."""

    at: datetime
    incident_id: int
    alert: str
    severity: str
    cause: str
    detail: str


class IncidentEnded(msgspec.Struct, frozen=True, tag=True):
    """An incident is over, after so many seconds."""

    at: datetime
    incident_id: int
    alert: str
    severity: str
    cause: str
    seconds: float


class RoundEnded(msgspec.Struct, frozen=True, tag=True):
    """A round of runs has ended and is summed up."""

    at: datetime
    vertical: str
    runs: int
    errors: int


class NoticeSent(msgspec.Struct, frozen=True, tag=True):
    """A channel took a message, or did not: `error` says why."""

    at: datetime
    channel: str
    kind: str
    error: str = ""


Happening = (
    StageDone | PageGot | JobWaits | JobRefused | JobDead | PersonNeeded | LeaseLost | BreakerMoved
    | RecordsJudged | RecordsKept
    | RunOpened | RunExtended
    | RunClosed | DriftNoticed | AdapterDisabled | EnqueueRejected | TickRan | JobsRescued | JobsStale | StoreTrouble
    | ClockJumped | PartCrashed | Overdue | ServiceDegraded | ServiceRestored
    | PlaceSearched | DiscoverySpilled | PagePolled | ChangeLogged | LifeMoved | WatchLost
    | GradeMoved | RecoveryBegun | RecoveryJudged | RecoveryExhausted
    | BrowserRecycled | ChangesCaughtUp | WatchPaused
    | ConflictFound | TokenRefused | ExportDone | DiskLow | ClockSkewed
    | IncidentOpened | IncidentEnded | RoundEnded | NoticeSent
)  # fmt: skip

Announce = Callable[[Happening], None]


def happenings_at_run_end(summary: RunSummary, now: datetime) -> list[Happening]:
    """Return the events of a closed run in order: its end, then its adapter's drift."""
    whose = (now, summary.run_id, summary.source_id, summary.adapter_id)
    happenings: list[Happening] = [RunClosed(now, summary)]
    for each in summary.noticed:
        if each.disabled:
            happenings.append(AdapterDisabled(*whose, each.disabled, each.rule, each.detail))
        else:
            happenings.append(DriftNoticed(*whose, each.rule, each.field, each.detail, each.is_over))
    return happenings
