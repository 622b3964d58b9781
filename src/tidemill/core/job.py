"""A job: one target's way through the stages of a run, and every move it can make."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from tidemill.core.failure import MEANING, Failure
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze, Stage
from tidemill.core.policy import Policy
from tidemill.core.retry import next_wait


class JobStatus(StrEnum):
    """Whether a job can be taken, waits, is in somebody's hands, or has ended."""

    READY = "ready"
    WAITING = "waiting"
    LEASED = "leased"
    DONE = "done"
    REFUSED = "refused"
    DEAD = "dead"
    STALE = "stale"


OPEN = (JobStatus.READY, JobStatus.WAITING, JobStatus.LEASED)
"""The states in which a job still owes its run an answer."""


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
    """A job as its worker holds it. `fence` proves the lease: whoever claims or frees the job raises it.

    `page_number` is the page of the target's list that the job is for; the first page's job stands for the target.
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


class Move(msgspec.Struct, frozen=True):
    """What a stage's answer does to its job."""

    status: JobStatus
    stage: Stage
    attempts: int
    not_before: datetime | None = None
    failure: Failure | None = None
    detail: str = ""
    stack: str = ""

    @property
    def ends(self) -> bool:
        """Whether the job owes its run nothing more."""
        return self.status not in OPEN


def move(job: Job, outcome: Outcome, policy: Policy, now: datetime, roll: float) -> Move:
    """Carry a stage's answer over to its job; the one place where a job's fate is decided."""
    match outcome:
        case Advance(to=Stage.COMPLETED):
            return Move(JobStatus.DONE, Stage.COMPLETED, job.attempts)
        case Advance(to=stage):
            return Move(JobStatus.LEASED, stage, 0)
        case Snooze():
            return put_off(job, outcome)
        case Fail():
            return after_failure(job, outcome, policy, now, roll)


def put_off(job: Job, snooze: Snooze) -> Move:
    """Let a job wait where it stands; no attempt is spent."""
    return Move(JobStatus.WAITING, job.stage, job.attempts, snooze.until, None, snooze.reason)


def after_failure(job: Job, fail: Fail, policy: Policy, now: datetime, roll: float) -> Move:
    """Try again later, refuse, or out of road: a dead letter."""
    meaning = MEANING[fail.failure]
    if meaning.is_refusal:
        return Move(JobStatus.REFUSED, Stage.COMPLETED, job.attempts, None, fail.failure, fail.detail)
    tries = job.attempts + 1
    wait = retry_wait(fail, policy, job.lane, tries, roll) if meaning.retry else None
    if wait is None:
        return Move(JobStatus.DEAD, Stage.DEAD_LETTER, tries, None, fail.failure, fail.detail, fail.stack)
    return Move(JobStatus.WAITING, job.stage, tries, now + wait, fail.failure, fail.detail, fail.stack)


def retry_wait(fail: Fail, policy: Policy, lane: str, tries: int, roll: float) -> timedelta | None:
    """The wait that the vertical's policy sets for this kind of failure in this lane, or None."""
    return next_wait(policy.retry_for(fail.failure, lane), tries, roll, fail.retry_after)


def gives_source_up(outcome: Outcome) -> bool:
    """Whether the source is to be left alone until a person has looked: its name or its certificate is wrong."""
    return isinstance(outcome, Fail) and outcome.failure in {Failure.DNS_FAILED, Failure.TLS_FAILED}


def speaks_for_source(stage: Stage, outcome: Outcome) -> bool | None:
    """What an answer says about the health of the source: well, unwell, or nothing.

    A page that was fetched says nothing until parsing shows that it is not a block page in disguise.
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
