"""Do one stage of certain jobs by hand, and tell what it answered."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from tidemill.bootstrap.run_ends import do_after_runs
from tidemill.bootstrap.system import System
from tidemill.cli.crawling import registered_worker
from tidemill.core.audit import AuditEntry
from tidemill.core.job import JobStatus
from tidemill.core.outcome import Advance, Fail, Snooze, Stage
from tidemill.engine.by_hand import OneStageDone, OneStageLedger
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.checkpoints import AcceptedRecords, Fetched, Judged, Parsed, Unchanged, WriteCounts
from tidemill.store.ledger.named_claims import NamedClaim
from tidemill.terminal.counting import counted

BY_HAND = (Stage.FETCH, Stage.PARSE, Stage.NORMALIZE, Stage.PERSIST)
REASONS_SHOWN = 5


class StageAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a stage made of one job: where the job goes, and in words what the stage produced.

    `went_well` is None for a job that was left alone, or whose stage waits.
    """

    job_id: int
    url: str = ""
    went_well: bool | None = None
    answer: str
    produced: str = ""


async def do_stage(
    system: System, stage: Stage, job_ids: Sequence[int], *, dry_run: bool, actor: str
) -> list[StageAnswer]:
    """Do one stage of these jobs and leave each before the next; with `dry_run` write nothing."""
    if dry_run:
        return await _on(system, await system.store.named_claims.look(job_ids, stage), is_dry=True)
    now = system.clock.now()
    note = AuditEntry(actor, "stage.run", f"stage {stage}", {"jobs": list(job_ids)[:50], "count": len(job_ids)})
    await system.store.audit.note([note], now)
    groups = [[key] for key in job_ids] if stage is Stage.FETCH else [list(job_ids)]
    answers: list[StageAnswer] = []
    async with registered_worker(system):
        for group in groups:
            claim = await system.store.named_claims.take(group, stage, system.worker.key(), system.clock.now())
            answers += await _on(system, claim, is_dry=False)
    if stage is Stage.PERSIST:
        await do_after_runs(system.parts.values())
    return answers


async def _on(system: System, claim: NamedClaim, *, is_dry: bool) -> list[StageAnswer]:
    left = [StageAnswer(job_id=key, answer=why) for key, why in sorted(claim.left.items())]
    if not claim.claimed:
        return left
    ledger = OneStageLedger(system.store.ledger, claim.claimed, is_dry=is_dry)
    drain = system.make_drain(ledger)
    while await drain.run(claim.claimed[0].job.lane) is not None:
        drain = system.make_drain(ledger)
    return sorted([*left, *(told(each, is_dry=is_dry) for each in ledger.done)], key=lambda each: each.job_id)


def told(done: OneStageDone, *, is_dry: bool) -> StageAnswer:
    """Return what a stage answered for one job, in words."""
    job, outcome, move = done.checkpoint.claimed.job, done.checkpoint.outcome, done.checkpoint.transition
    if not done.held:
        return StageAnswer(job_id=job.id, url=job.url, answer="somebody else took the job meanwhile")
    match outcome:
        case Advance(to=Stage.COMPLETED, produced=produced):
            answer, well = "done" if not is_dry else "would be done", True
        case Advance(to=to, produced=produced):
            answer, well = f"stands before {to}" if not is_dry else f"would stand before {to}", True
        case Snooze(until=until, reason=reason):
            return StageAnswer(
                job_id=job.id, url=job.url, answer=f"waits until {until:%Y-%m-%d %H:%M:%S} UTC", produced=reason
            )
        case Fail(failure=failure, detail=detail, evidence=evidence):
            produced, well = evidence, False
            answer = f"{failure}: {detail}" if detail else str(failure)
            answer += f" ({_after_failure(move.status)})"
    words = in_words(produced, done.counts)
    return StageAnswer(job_id=job.id, url=job.url, went_well=well, answer=answer, produced=words)


def _after_failure(status: JobStatus) -> str:
    words: Mapping[str, str] = {
        JobStatus.DEAD: "a dead letter",
        JobStatus.REFUSED: "refused",
        JobStatus.WAITING: "to be tried again",
        JobStatus.READY: "to be tried again",
    }
    return words.get(status, status)


def in_words(produced: object, counts: WriteCounts | None = None) -> str:
    """Return what a stage produced, in words; '' for nothing."""
    words = ""
    match produced:
        case Fetched(page=page, result=result):
            words = f"status {page.status_code}, {len(result.body or page.body):,} bytes, by {result.fetcher}"
        case Unchanged(page=page):
            words = f"status {page.status_code}, unchanged since last time"
        case Parsed(found=found, adapter_id=adapter, adapter_version=version):
            more = ", and the list goes on" if found.next_url else ""
            words = f"{found.records} raw records by {found.strategy or 'nothing'}, {adapter}@{version}{more}"
        case Judged(accepted=accepted, rejected=rejected):
            reasons = Counter(each.verdict.reason for each in rejected).most_common(REASONS_SHOWN)
            against = ", ".join(f"{count} {reason}" for reason, count in reasons)
            words = f"{len(accepted)} accepted, {len(rejected)} not" + (f": {against}" if against else "")
        case AcceptedRecords(records=records, repeated=repeated):
            words = counted(len(records), "record") if counts is None else _written(counts)
            words += f", {repeated} repeated" if repeated else ""
    return words


def _written(counts: WriteCounts) -> str:
    return (
        f"{counts.inserted} new, {counts.updated} changed, {counts.unchanged} unchanged, "
        f"{counts.dropped} dropped, {counts.held_back} held back"
    )


async def jobs_to_do(system: System, stage: Stage, jobs: Sequence[int], run_id: int | None) -> list[int]:
    """Return the jobs that are meant: those that are named, and those of a run that stand before the stage."""
    if run_id is None:
        return list(dict.fromkeys(jobs))
    found = await system.store.named_claims.at_stage(run_id, stage)
    if not found and not jobs:
        msg = f"no job of run {run_id} stands before {stage}; see `tidemill runs show {run_id}`"
        raise Mistake(msg)
    return list(dict.fromkeys([*jobs, *found]))
