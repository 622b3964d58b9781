"""The narrator: says in typed words what a commit has just made true."""

from tidemill.core.failure import MEANING, Failure
from tidemill.core.job import JobStatus
from tidemill.core.outcome import Advance, Stage
from tidemill.core.run import RunSummary
from tidemill.core.verdict import Dropped
from tidemill.pipeline.checkpoints import AcceptedRecords, Checkpoint, Committed, Fetched, Unchanged
from tidemill.pipeline.happenings import (
    Announce,
    BreakerMoved,
    JobDead,
    JobRefused,
    JobWaits,
    LeaseLost,
    PageGot,
    PersonNeeded,
    RecordsKept,
    StageDone,
    StoreTrouble,
    happenings_at_run_end,
)
from tidemill.pipeline.ports import Clock


class Narrator:
    """Announces what happened, after it is safe."""

    def __init__(self, announce: Announce, clock: Clock) -> None:
        """`announce` hears every happening in order."""
        self._announce = announce
        self._clock = clock

    def committed(self, batch: list[Checkpoint], committed: Committed) -> None:
        """Tell of a group of checkpoints."""
        now = self._clock.now()
        for checkpoint in batch:
            job = checkpoint.claimed.job
            if job.id not in committed.still_leased:
                self._announce(LeaseLost(now, job.id, job.run_id, job.source_id, job.stage))
            elif isinstance(checkpoint.outcome, Advance):
                self._advanced(checkpoint, committed)
            else:
                self._stopped(checkpoint)
        for shift in committed.breaker_changes:
            self._announce(BreakerMoved(now, shift.source_id, shift.before, shift.after, shift.until))

    def _advanced(self, checkpoint: Checkpoint, committed: Committed) -> None:
        now, job = self._clock.now(), checkpoint.claimed.job
        produced = checkpoint.outcome.produced if isinstance(checkpoint.outcome, Advance) else None
        if isinstance(produced, Fetched | Unchanged):
            result = produced.result
            took = round(result.duration.total_seconds() * 1000)
            unchanged = isinstance(produced, Unchanged)
            whose = (now, job.id, job.run_id, job.source_id, job.host)
            self._announce(PageGot(*whose, result.status_code, len(result.body), took, unchanged))
        if isinstance(produced, AcceptedRecords):
            kept = committed.kept[job.id]
            rejected = produced.judged.rejected
            dropped = sum(isinstance(each.verdict, Dropped) for each in rejected)
            self._announce(
                RecordsKept(
                    now, job.id, job.run_id, job.source_id, job.vertical, kept.inserted, kept.updated,
                    kept.unchanged, produced.repeated, dropped, len(rejected) - dropped,
                )
            )  # fmt: skip
        self._announce(StageDone(now, job.id, job.run_id, job.source_id, job.stage))

    def _stopped(self, checkpoint: Checkpoint) -> None:
        now, job, step = self._clock.now(), checkpoint.claimed.job, checkpoint.transition
        whose = (now, job.id, job.run_id, job.source_id, job.host)
        failure = step.failure or Failure.BUG
        match step.status:
            case JobStatus.WAITING if step.not_before is not None:
                self._announce(JobWaits(*whose, job.stage, step.not_before, step.detail, step.failure))
            case JobStatus.REFUSED:
                self._announce(JobRefused(*whose, failure, step.detail))
            case _:
                self._announce(JobDead(*whose, Stage(job.stage), failure, step.detail))
                if MEANING[failure].alerts:
                    self._announce(PersonNeeded(*whose, failure, step.detail))

    def run_closed(self, summary: RunSummary) -> None:
        """Tell of a run's end."""
        for told in happenings_at_run_end(summary, self._clock.now()):
            self._announce(told)

    def store_trouble(self, detail: str) -> None:
        """Tell that the database refused."""
        self._announce(StoreTrouble(self._clock.now(), detail))
