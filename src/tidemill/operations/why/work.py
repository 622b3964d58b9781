"""Explains the state of a job or a run."""

from collections.abc import Mapping
from datetime import datetime

from tidemill.core.failure import MEANING, Failure, Meaning
from tidemill.core.views import (
    DeadLetterDetail,
    DeadLetterView,
    JobDetail,
    JobView,
    ReadingView,
    RunDetail,
    RunView,
    SourceDetail,
)
from tidemill.core.views.quality import QuarantinedView
from tidemill.operations.why.explanation import (
    Explanation,
    Step,
    blocking_step,
    format_moment,
    format_relative,
    info_step,
    passing_step,
)
from tidemill.operations.why.sources import breaker_gate


def why_job(detail: JobDetail, source: SourceDetail | None, now: datetime) -> Explanation:
    """Explain a job: its state, what failed, what that means, and what happens next."""
    job = detail.job
    steps = [
        info_step(
            "job", f"{job.trigger.lower()} job of run {job.run_id} for {job.url}, made {format_moment(job.created_at)}"
        ),
        info_step("stage", f"{job.stage}, attempt {job.attempts} of {job.max_attempts}"),
        *_failure(job),
        *([reading_step(detail.reading)] if detail.reading is not None else _evidence(job)),
        *([breaker_gate(source.breaker, now)] if source is not None and job.status in {"ready", "waiting"} else []),
        *_dead_letter(detail, now),
    ]
    return Explanation(f"job {job.id}", _standing(detail, now), steps)


def _standing(detail: JobDetail, now: datetime) -> str:
    job = detail.job
    until = format_relative(job.not_before, now) if job.not_before else "a worker has nothing else in hand"
    since = format_moment(job.leased_at) if job.leased_at else "just now"
    words = {
        "ready": "ready: it goes as soon as its host may be asked and a worker is free",
        "waiting": f"waits until {until}: {job.error or 'it was put off'}",
        "leased": f"in the hands of worker {job.leased_by} since {since}",
        "done": "done: its page went all the way",
        "refused": f"refused, which counts against nobody: {job.error or job.failure}",
        "dead": f"out of road: {job.failure} ({job.error})",
        "stale": "waited for too long and was set aside; `tidemill runs requeue-stale` takes it up again",
    }
    return words.get(job.status, job.status)


def _failure(job: JobView) -> list[Step]:
    if job.failure is None:
        return []
    meaning = MEANING[Failure(job.failure)] if job.failure in set(Failure) else None
    steps = [info_step("failure", f"{job.failure}: {job.error or 'no more is known'}")]
    return [*steps, info_step("rule", meaning_in_words(meaning))] if meaning else steps


def _evidence(job: JobView) -> list[Step]:
    """Return the step about the page on which a job failed before anything was read of it."""
    if job.failure is None or job.page_id is None:
        return []
    return [info_step("page", f"page {job.page_id} is kept as evidence; `tidemill view {job.page_id}` shows it")]


def meaning_in_words(meaning: Meaning) -> str:
    """Return in words what a failure means."""
    parts = [
        "it is a refusal of ours" if meaning.is_refusal else None,
        "it is retried by itself" if meaning.retry else "it is not retried by itself",
        "it counts against the source's breaker" if meaning.trips_breaker else "it does not touch the breaker",
        "it hints that the adapter no longer fits the page" if meaning.is_drift else None,
        "a person is told at once" if meaning.alerts else None,
    ]
    return "; ".join(words for words in parts if words)


def reading_step(reading: ReadingView) -> Step:
    """Return the step about a page's reading."""
    words = f"page {reading.page_id} was read by {reading.adapter_id} {reading.adapter_version}"
    words += f" ({reading.strategy})" if reading.strategy else ""
    words += f": {reading.records} raw records"
    if reading.accepted is not None:
        words += f", {reading.accepted} accepted, {reading.dropped} dropped, {reading.quarantined} quarantined"
    return info_step("reading", words)


def _dead_letter(detail: JobDetail, now: datetime) -> list[Step]:
    letter = detail.letter
    if letter is None:
        return []
    if letter.status == "pending" and letter.next_retry_at is not None:
        goes_on = (
            f"retry {letter.retry_count + 1} of {letter.max_retries} comes {format_relative(letter.next_retry_at, now)}"
        )
    elif letter.status == "pending":
        goes_on = f"its own retries are spent; `tidemill dlq retry {letter.id}` or `tidemill dlq discard {letter.id}`"
    else:
        goes_on = letter.resolution_notes or letter.status
    return [info_step("dead letter", f"letter {letter.id} is {letter.status}: {goes_on}")]


def why_letter(detail: DeadLetterDetail, now: datetime) -> Explanation:
    """Explain a dead letter: what failed, what that means, and what becomes of it."""
    letter = detail.letter
    meaning = MEANING[Failure(letter.error_type)] if letter.error_type in set(Failure) else None
    waits = letter.status == "pending"
    steps = [
        info_step("job", f"job {letter.job_id} of {letter.source_name} for {letter.url}"),
        info_step("failure", f"{letter.error_type} at {letter.stage}: {letter.error_message}"),
        *([info_step("rule", meaning_in_words(meaning))] if meaning else []),
        info_step("retries", f"{letter.retry_count} of {letter.max_retries} of its own are spent"),
        _next_of(letter, now),
    ]
    if letter.resolution_notes:
        steps.append(info_step("notes", letter.resolution_notes))
    verdict = (
        f"{letter.error_type}: {letter.error_message}" if waits else f"{letter.status}: nothing more is to be done"
    )
    return Explanation(f"letter {letter.id}", verdict, steps)


def _next_of(letter: DeadLetterView, now: datetime) -> Step:
    if letter.status != "pending":
        when = f" {format_relative(letter.resolved_at, now)}" if letter.resolved_at else ""
        return passing_step("settled", f"{letter.status}{when}")
    if letter.next_retry_at is not None:
        return info_step("next retry", format_relative(letter.next_retry_at, now))
    return blocking_step("next retry", "none by itself: a person tries it again or discards it")


def why_quarantined(record: QuarantinedView, now: datetime) -> Explanation:
    """Explain a record that was set aside: which rule, which page, and what was decided."""
    steps = [
        info_step(
            "read", f"on page {record.page_id} ({record.page_url}) in run {record.run_id} of {record.source_name}"
        ),
        (passing_step if record.review else blocking_step)("rule", f"{record.reason}: {record.detail}"),
        info_step("seen", f"{record.times} times, first {format_relative(record.created_at, now)}"),
    ]
    if record.review is None:
        return Explanation(f"quarantine {record.id}", f"set aside: {record.detail or record.reason}", steps)
    when = f", {format_relative(record.reviewed_at, now)}" if record.reviewed_at else ""
    notes = f": {record.review_notes}" if record.review_notes else ""
    steps.append(info_step("decided", f"{record.review} by {record.reviewed_by}{when}{notes}"))
    return Explanation(f"quarantine {record.id}", f"{record.review} by {record.reviewed_by}", steps)


def why_run(detail: RunDetail) -> Explanation:
    """Explain a run: how it ended, what its jobs did, and the doubts about its completeness."""
    run = detail.run
    steps = [
        info_step("run", f"{run.trigger.lower()} run of {run.source_name}, begun {format_moment(run.started_at)}"),
        *(info_step("stage", f"{each.jobs} jobs {each.status} at {each.stage}") for each in detail.stages),
        *_failures(detail.failures),
        info_step("pages", f"{run.urls_succeeded} of {run.urls_attempted} answered, {run.pages_unchanged} unchanged, "
                            f"{run.urls_failed} failed, {run.urls_refused} refused"),
        info_step("records", f"{run.records_read} read: {run.records_accepted} accepted ({run.records_inserted} new, "
                              f"{run.records_updated} changed), {run.records_dropped} dropped, "
                              f"{run.records_quarantined} quarantined; {run.records_seen_again} seen again"),
        *_without(run),
        *_certificate(detail),
    ]  # fmt: skip
    return Explanation(f"run {run.id}", _how_it_went(detail), steps)


def _without(run: RunView) -> list[Step]:
    """Return the services that were degraded during the run."""
    return [
        info_step("degraded", f"it had to do without {name}; see `tidemill why service:{name}`")
        for name in run.degraded or ()
    ]


def _failures(failures: Mapping[str, int]) -> list[Step]:
    return [info_step("failures", f"{count} times {failure}") for failure, count in sorted(failures.items())]


def _certificate(detail: RunDetail) -> list[Step]:
    run = detail.run
    if run.complete is None:
        return [info_step("complete", "not judged before the run ends")]
    if run.complete:
        return [passing_step("complete", f"saw everything; {run.records_removed} records are gone")]
    return [blocking_step("complete", doubt) for doubt in run.doubts or ("not certified",)]


def _how_it_went(detail: RunDetail) -> str:
    run = detail.run
    match run.status:
        case "RUNNING":
            return f"still running: {run.open_jobs} jobs are open"
        case "SUCCESS" if run.complete:
            return "went well and saw everything"
        case "SUCCESS":
            return "went well, but is not trusted to have seen everything, so nothing was removed on its word"
        case "PARTIAL":
            return f"{run.urls_failed} of {run.urls_attempted} pages failed, so nothing was removed on its word"
        case _:
            return f"no page could be had: {run.urls_failed} failed"
