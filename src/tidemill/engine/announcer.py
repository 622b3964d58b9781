"""Announces the events of each commit."""

from collections import Counter
from datetime import datetime, timedelta

from tidemill.core.failure import MEANING, Failure
from tidemill.core.job import Job, JobStatus
from tidemill.core.outcome import Advance, Stage
from tidemill.core.run import RunSummary
from tidemill.core.verdict import Dropped
from tidemill.pipeline.checkpoints import AcceptedRecords, Checkpoint, Committed, Fetched, Judged, Parsed, Unchanged
from tidemill.pipeline.happenings import (
    Announce,
    BreakerMoved,
    JobDead,
    JobRefused,
    JobWaits,
    LeaseLost,
    PageGot,
    PersonNeeded,
    RecordsJudged,
    RecordsKept,
    StageDone,
    StoreTrouble,
    happenings_at_run_end,
)
from tidemill.pipeline.ports import Clock

MILLISECOND = timedelta(milliseconds=1)


class CommitAnnouncer:
    """Announces what was committed, after the commit."""

    def __init__(self, announce: Announce, clock: Clock) -> None:
        """`announce` is called with every event in order."""
        self._announce = announce
        self._clock = clock

    def committed(self, batch: list[Checkpoint], committed: Committed) -> None:
        """Announce the events of a group of checkpoints."""
        now = self._clock.now()
        for checkpoint in batch:
            job = checkpoint.claimed.job
            if job.id not in committed.still_leased:
                self._announce(LeaseLost(now, job.id, job.run_id, job.source_id, job.stage, job.adapter_id))
            elif isinstance(checkpoint.outcome, Advance):
                self._advanced(checkpoint, committed)
            else:
                self._stopped(checkpoint)
        for change in committed.breaker_changes:
            self._announce(BreakerMoved(now, change.source_id, change.before, change.after, change.until))

    def _advanced(self, checkpoint: Checkpoint, committed: Committed) -> None:
        now, job = self._clock.now(), checkpoint.claimed.job
        produced = checkpoint.outcome.produced if isinstance(checkpoint.outcome, Advance) else None
        if isinstance(produced, Fetched | Unchanged):
            result = produced.result
            milliseconds = round(result.duration.total_seconds() * 1000)
            unchanged = isinstance(produced, Unchanged)
            job_fields = (now, job.id, job.run_id, job.source_id, job.host)
            waited = result.waited // MILLISECOND
            self._announce(
                PageGot(
                    *job_fields, result.status_code, len(result.body), milliseconds, unchanged, job.adapter_id, waited
                )
            )
        if isinstance(produced, AcceptedRecords):
            kept = committed.kept[job.id]
            self._announce(
                RecordsKept(
                    now, job.id, job.run_id, job.source_id, job.vertical, kept.inserted, kept.updated,
                    kept.unchanged, produced.repeated, kept.dropped, kept.held_back, job.adapter_id,
                )
            )  # fmt: skip
        if isinstance(produced, Judged):
            self._announce(judged_happening(now, job, produced))
        ends = checkpoint.transition.status is JobStatus.DONE
        took = round(produced.read_seconds * 1000) if isinstance(produced, Parsed) else None
        self._announce(StageDone(now, job.id, job.run_id, job.source_id, job.stage, ends, job.adapter_id, took))

    def _stopped(self, checkpoint: Checkpoint) -> None:
        now, job, transition = self._clock.now(), checkpoint.claimed.job, checkpoint.transition
        job_fields = (now, job.id, job.run_id, job.source_id, job.host)
        failure = transition.failure or Failure.BUG
        match transition.status:
            case JobStatus.WAITING if transition.not_before is not None:
                self._announce(
                    JobWaits(
                        *job_fields, job.stage, transition.not_before, transition.detail, transition.failure,
                        job.adapter_id,
                    )
                )  # fmt: skip
            case JobStatus.REFUSED:
                self._announce(JobRefused(*job_fields, failure, transition.detail, job.adapter_id))
            case _:
                stage = Stage(job.stage)
                self._announce(JobDead(*job_fields, stage, failure, transition.detail, job.adapter_id))
                if MEANING[failure].alerts:
                    self._announce(PersonNeeded(*job_fields, failure, transition.detail, job.adapter_id))

    def run_closed(self, summary: RunSummary) -> None:
        """Announce the events of a closed run."""
        for happening in happenings_at_run_end(summary, self._clock.now()):
            self._announce(happening)

    def store_trouble(self, detail: str) -> None:
        """Announce that the database refused."""
        self._announce(StoreTrouble(self._clock.now(), detail))


def judged_happening(now: datetime, job: Job, judged: Judged) -> RecordsJudged:
    """Return the event of a page's verdicts."""
    dropped = sum(isinstance(each.verdict, Dropped) for each in judged.rejected)
    aside = len(judged.rejected) - dropped
    whose = (now, job.id, job.run_id, job.source_id, job.vertical)
    return RecordsJudged(*whose, len(judged.accepted), dropped, aside, job.adapter_id, rejection_reasons(judged))


def rejection_reasons(judged: Judged) -> tuple[tuple[str, str, int], ...]:
    """Return how many records were dropped or quarantined for each reason."""
    if not judged.rejected:
        return ()
    found = Counter(
        ("dropped" if isinstance(each.verdict, Dropped) else "quarantined", str(each.verdict.reason))
        for each in judged.rejected
    )
    return tuple((verdict, reason, count) for (verdict, reason), count in sorted(found.items()))
