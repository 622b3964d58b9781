"""A job: one target's progress through the stages of a run, and its state transitions."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from tidemill.core.checks.secrets import redact_text
from tidemill.core.failure import MEANING, Failure
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze, Stage
from tidemill.core.policy import Policy
from tidemill.core.retry import next_wait
from tidemill.core.source import FetcherKind


class JobStatus(StrEnum):
    """Whether a job is ready, waits, is leased to a worker, or has ended."""

    READY = "ready"
    WAITING = "waiting"
    LEASED = "leased"
    DONE = "done"
    REFUSED = "refused"
    DEAD = "dead"
    STALE = "stale"


OPEN = (JobStatus.READY, JobStatus.WAITING, JobStatus.LEASED)
"""The states of a job that has not ended."""


SUSPECT_AFTER = 2
"""Deaths of workers while they read or rendered a job's page, after which the job is only claimed alone."""
LONE_DEATHS = 3
"""Workers that have to die alone with a suspect before it is buried: one may have been killed by chance."""


class Urgency(StrEnum):
    """Live before imminent before the rest; the ledger stores its rank."""

    LIVE = "live"
    IMMINENT = "imminent"
    NORMAL = "normal"

    @property
    def rank(self) -> int:
        """0 goes first."""
        return {Urgency.LIVE: 0, Urgency.IMMINENT: 1, Urgency.NORMAL: 2}[self]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as leased to a worker. `fence` proves the lease: claiming or freeing the job increments it.

    `page_number` is the page of the target's list that the job fetches; the first page's job counts for the target.
    `deaths` are the workers that died while they read or rendered its page.
    """

    id: int
    run_id: int
    source_id: int
    target_id: int
    vertical: str
    lane: str
    host: str
    url: str
    stage: Stage = Stage.FETCH
    attempts: int = 0
    max_attempts: int = 3
    fence: int = 0
    page_id: int | None = None
    trigger: str = "SCHEDULED"
    page_number: int = 1
    deaths: int = 0
    adapter_id: str = ""

    @property
    def is_in_danger(self) -> bool:
        """Whether its page is being read or rendered, so that it may be what its worker dies of."""
        return self.stage not in {Stage.FETCH, Stage.WATCH} or self.lane == FetcherKind.BROWSER


class JobTransition(msgspec.Struct, frozen=True):
    """The new state of a job after a stage."""

    status: JobStatus
    stage: Stage
    attempts: int
    not_before: datetime | None = None
    failure: Failure | None = None
    detail: str = ""
    stack: str = ""

    @property
    def ends(self) -> bool:
        """Whether the job has ended."""
        return self.status not in OPEN


def transition_for(job: Job, outcome: Outcome, policy: Policy, now: datetime, roll: float) -> JobTransition:
    """Return the job's transition for a stage's outcome."""
    match outcome:
        case Advance(to=Stage.COMPLETED):
            return JobTransition(JobStatus.DONE, Stage.COMPLETED, job.attempts)
        case Advance(to=stage):
            return JobTransition(JobStatus.LEASED, stage, 0)
        case Snooze():
            return snooze_job(job, outcome)
        case Fail():
            return after_failure(job, without_secrets(outcome), policy, now, roll)


def without_secrets(fail: Fail) -> Fail:
    """Return a failure whose words may be kept and shown: errors quote addresses, headers and settings."""
    if not fail.detail and not fail.stack:
        return fail
    return msgspec.structs.replace(fail, detail=redact_text(fail.detail), stack=redact_text(fail.stack))


def snooze_job(job: Job, snooze: Snooze) -> JobTransition:
    """Return the transition of a job that waits at its stage; no attempt is spent."""
    return JobTransition(JobStatus.WAITING, job.stage, job.attempts, snooze.until, None, snooze.reason)


def after_failure(job: Job, fail: Fail, policy: Policy, now: datetime, roll: float) -> JobTransition:
    """Return the transition for a failure: a retry, a refusal, or a dead letter when no attempts are left."""
    meaning = MEANING[fail.failure]
    if meaning.is_refusal:
        return JobTransition(JobStatus.REFUSED, Stage.COMPLETED, job.attempts, None, fail.failure, fail.detail)
    tries = job.attempts + 1
    wait = retry_wait(fail, policy, job.lane, tries, roll) if meaning.retry else None
    if wait is None:
        return JobTransition(JobStatus.DEAD, Stage.DEAD_LETTER, tries, None, fail.failure, fail.detail, fail.stack)
    return JobTransition(JobStatus.WAITING, job.stage, tries, now + wait, fail.failure, fail.detail, fail.stack)


def after_death(job: Job) -> JobTransition:
    """Return the transition of a job whose worker died while its page was read or rendered.

    No attempt is spent. A suspect waits without a moment, for a worker that holds nothing else; one that several
    workers died alone with is a dead letter.
    """
    deaths = job.deaths + 1
    if deaths < SUSPECT_AFTER:
        return JobTransition(JobStatus.READY, job.stage, job.attempts)
    if deaths < SUSPECT_AFTER + LONE_DEATHS:
        detail = f"{deaths} workers died while they had its page: it is read alone, after all others"
        return JobTransition(JobStatus.WAITING, job.stage, job.attempts, None, Failure.WORKER_DIED, detail)
    detail = f"{deaths} workers died while they had its page, the last {LONE_DEATHS} of them alone with it"
    return JobTransition(JobStatus.DEAD, Stage.DEAD_LETTER, job.attempts, None, Failure.WORKER_DIED, detail)


def retry_wait(fail: Fail, policy: Policy, lane: str, tries: int, roll: float) -> timedelta | None:
    """Return the wait that the policy sets for this failure in this lane, or None for no retry."""
    return next_wait(policy.retry_for(fail.failure, lane), tries, roll, fail.retry_after)


def holds_host(outcome: Outcome) -> bool:
    """Return whether the failure is of the host's name or certificate: asking it for another page is no use for now."""
    return isinstance(outcome, Fail) and outcome.failure in {Failure.DNS_FAILED, Failure.TLS_FAILED}


def breaker_signal(stage: Stage, outcome: Outcome) -> bool | None:
    """Return whether an outcome counts for the breaker as a success (True), a failure (False) or neither (None).

    A fetched page does not count until parsing shows that it is not a block page.
    """
    match outcome:
        case Advance(from_stored_page=True):
            return None
        case Fail(failure=failure) if MEANING[failure].trips_breaker:
            return False
        case Advance(to=Stage.COMPLETED) if stage is Stage.FETCH:
            return True
        case Advance() | Fail() if stage is Stage.PARSE:
            return True
        case Fail(failure=Failure.NOT_FOUND | Failure.TOO_LARGE):
            return True
        case _:
            return None
