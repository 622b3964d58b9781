"""Jobs, runs and letters: everything that was begun is accounted for."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from tidemill.lab.books import OPEN, moment
from tidemill.lab.eventlog import WorkerFell
from tidemill.lab.faults import EVERYWHERE, Outage
from tidemill.lab.laws.case import Case, Verdict, verdict
from tidemill.pipeline.happenings import JobDead, RunClosed, RunOpened, TickRan

DRAINED_WITHIN = timedelta(hours=12)
FOUND_WITHIN = timedelta(hours=8)
"""A run that a crash left open is closed by a tick."""


def accounts(case: Case) -> Verdict:
    """Every job has ended or is open, and every run's figures add up to its jobs."""
    open_jobs = Counter(job.run_id for job in case.books.jobs if job.status in OPEN)
    opened = {event.run_id: event.jobs for event in case.witness.events if isinstance(event, RunOpened)}
    breaches = [breach for run in case.books.runs.values() for breach in _run(case, run, open_jobs, opened)]
    breaches += [f"run {key} was announced, but is not in the books" for key in opened if key not in case.books.runs]
    closed = Counter(event.summary.run_id for event in case.witness.events if isinstance(event, RunClosed))
    breaches += [f"run {key} was closed {count} times" for key, count in closed.items() if count > 1]
    checked = f"{len(case.books.jobs)} jobs in {len(case.books.runs)} runs"
    return verdict("every job is accounted for", checked, breaches)


def _run(case: Case, run: Mapping[str, Any], open_jobs: Counter[int], opened: dict[int, int]) -> Iterator[str]:
    key = run["id"]
    if run["open_jobs"] != open_jobs[key]:
        yield f"run {key} says {run['open_jobs']} jobs are open, {open_jobs[key]} are"
    ended = run["urls_succeeded"] + run["urls_failed"] + run["urls_refused"]
    if run["urls_attempted"] != ended:
        yield f"run {key} attempted {run['urls_attempted']} URLs, but {ended} ended"
    begun = opened.get(key, 0) + run["pages_followed"]
    if key in opened and begun != ended + run["open_jobs"]:
        yield f"run {key} had {begun} jobs, {ended} ended and {run['open_jobs']} are open"
    if run["status"] == "RUNNING" and not run["open_jobs"] and _over_since(case, run) < case.ends - FOUND_WITHIN:
        yield f"run {key} is over, but nobody closed it"
    if run["status"] != "RUNNING" and run["open_jobs"]:
        yield f"run {key} was closed with {run['open_jobs']} jobs open"


def _over_since(case: Case, run: Mapping[str, Any]) -> datetime:
    """When a run's last job ended, as far as its jobs are still its own."""
    return max((job.completed_at for job in case.books.jobs if job.run_id == run["id"] and job.completed_at),
               default=moment(run["started_at"]))  # fmt: skip


def drained(case: Case) -> Verdict:
    """After an outage of all hosts the queue empties: every host that is well has no job left within hours."""
    outages = [spell for spell in case.world.timetable.spells if isinstance(spell.fault, Outage)]
    breaches = []
    for spell in outages:
        if spell.host != EVERYWHERE or spell.ends is None or spell.ends + DRAINED_WITHIN > case.ends:
            continue
        unwell = _unwell(case, spell.begins, spell.ends + DRAINED_WITHIN)
        after = [s for s in case.auditor.samples if spell.ends <= s.at <= spell.ends + DRAINED_WITHIN]
        left = [{host: count for host, count in s.open_by_host.items() if host not in unwell} for s in after]
        if fewest := min(left, key=lambda each: sum(each.values()), default={}):
            told = f"{sum(fewest.values())} jobs or more were open for {DRAINED_WITHIN} after the outage"
            breaches.append(f"{told}: {', '.join(fewest)}")
    return verdict("the queue drains after an outage", f"{len(outages)} outages", breaches)


def _unwell(case: Case, begins: datetime, ends: datetime) -> set[str]:
    """Hosts with a trouble of their own in this time, and those whose breaker rested already when it began.

    A probe that meets the outage makes a rest twice as long, up to a day: no job leaves before it is over.
    """
    ill = {each.host for each in case.world.timetable.spells if each.begins < ends and (each.ends or ends) > begins}
    return ill | case.resting(begins)


def bounded(case: Case) -> Verdict:
    """No job is tried more often than it may be, and no dead letter retried more often."""
    breaches = [
        f"job {job.id} was tried {job.attempts} times of {job.max_attempts}"
        for job in case.books.jobs
        if job.attempts > job.max_attempts
    ]
    breaches += [
        f"the letter of job {letter.job_id} was retried {letter.retry_count} times of {letter.max_retries}"
        for letter in case.books.letters.values()
        if letter.retry_count > letter.max_retries
    ]
    return verdict("attempts are bounded", f"{len(case.books.jobs)} jobs", breaches)


def letters(case: Case) -> Verdict:
    """A dead letter stays until it is resolved, and says where its job stands."""
    kept = case.books.letters
    died = {event.job_id for event in case.witness.events if isinstance(event, JobDead)} | case.auditor.letters_seen
    breaches = [f"the letter of job {key} vanished" for key in sorted(died - set(kept))]
    expected = {"pending": {"dead", "stale"}, "retrying": OPEN, "resolved": {"done", "refused"}, "discarded": {"dead"}}
    for job in case.books.jobs:
        letter = kept.get(job.id)
        if letter is not None and job.status not in expected[letter.status]:
            breaches.append(f"the letter of job {job.id} is {letter.status}, but the job is {job.status}")
        if letter is None and job.status == "dead":
            breaches.append(f"job {job.id} is dead and has no letter")
    return verdict("dead letters never vanish", f"{len(kept)} letters", breaches)


def upkeep(case: Case) -> Verdict:
    """Workers stay on their feet and periodic work goes well, whatever else goes wrong."""
    ticks = [event for event in case.witness.events if isinstance(event, TickRan)]
    failed = [f"{t.name} at {t.at:%d %H:%M}: {t.detail.strip().splitlines()[-1]}" for t in ticks if t.status != "ok"]
    fell = [f"{each.worker} fell: {each.error}" for each in case.witness.events if isinstance(each, WorkerFell)]
    return verdict("periodic work goes well", f"{len(ticks)} ticks", failed + fell)
