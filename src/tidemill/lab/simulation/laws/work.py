"""Jobs, runs and dead letters: everything that was begun is accounted for."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from tidemill.lab.faults import EVERYWHERE, Outage
from tidemill.lab.simulation.event_log import WorkerFell
from tidemill.lab.simulation.inspector import OPEN, moment
from tidemill.lab.simulation.laws.finished import FinishedSimulation, LawVerdict, verdict
from tidemill.pipeline.happenings import JobDead, RunClosed, RunExtended, RunOpened, TickRan

DRAINED_WITHIN = timedelta(hours=12)
FOUND_WITHIN = timedelta(hours=8)
"""A run that a crash left open is closed by a tick."""


def accounts(finished: FinishedSimulation) -> LawVerdict:
    """Every job has ended or is open, and every run's figures add up to its jobs."""
    open_jobs = Counter(job.run_id for job in finished.rows.jobs if job.status in OPEN)
    opened: Counter[int] = Counter()
    for event in finished.recorder.events:
        if isinstance(event, RunOpened | RunExtended):
            opened[event.run_id] += event.jobs
    breaches = [breach for run in finished.rows.runs.values() for breach in _run(finished, run, open_jobs, opened)]
    breaches += [f"run {key} was announced, but is not in the books" for key in opened if key not in finished.rows.runs]
    closed = Counter(event.summary.run_id for event in finished.recorder.events if isinstance(event, RunClosed))
    breaches += [f"run {key} was closed {count} times" for key, count in closed.items() if count > 1]
    checked = f"{len(finished.rows.jobs)} jobs in {len(finished.rows.runs)} runs"
    return verdict("every job is accounted for", checked, breaches)


def _run(
    finished: FinishedSimulation, run: Mapping[str, Any], open_jobs: Counter[int], opened: dict[int, int]
) -> Iterator[str]:
    key = run["id"]
    if run["open_jobs"] != open_jobs[key]:
        yield f"run {key} says {run['open_jobs']} jobs are open, {open_jobs[key]} are"
    ended = run["urls_succeeded"] + run["urls_failed"] + run["urls_refused"]
    if run["urls_attempted"] != ended:
        yield f"run {key} attempted {run['urls_attempted']} URLs, but {ended} ended"
    begun = opened.get(key, 0) + run["pages_followed"]
    if key in opened and begun != ended + run["open_jobs"]:
        yield f"run {key} had {begun} jobs, {ended} ended and {run['open_jobs']} are open"
    if (
        run["status"] == "RUNNING"
        and not run["open_jobs"]
        and _over_since(finished, run) < finished.ends - FOUND_WITHIN
    ):
        yield f"run {key} is over, but nobody closed it"
    if run["status"] != "RUNNING" and run["open_jobs"]:
        yield f"run {key} was closed with {run['open_jobs']} jobs open"


def _over_since(finished: FinishedSimulation, run: Mapping[str, Any]) -> datetime:
    """When a run's last job ended, as far as its jobs are still its own."""
    return max((job.completed_at for job in finished.rows.jobs if job.run_id == run["id"] and job.completed_at),
               default=moment(run["started_at"]))  # fmt: skip


def drained(finished: FinishedSimulation) -> LawVerdict:
    """After an outage of all hosts the queue empties: every host that is well has no job left within hours."""
    outages = [each for each in finished.world.timetable.scheduled if isinstance(each.fault, Outage)]
    breaches = []
    for each in outages:
        if each.host != EVERYWHERE or each.ends is None or each.ends + DRAINED_WITHIN > finished.ends:
            continue
        troubled = _hosts_in_trouble(finished, each.begins, each.ends + DRAINED_WITHIN)
        after = [s for s in finished.inspector.samples if each.ends <= s.at <= each.ends + DRAINED_WITHIN]
        left = [{host: count for host, count in s.open_by_host.items() if host not in troubled} for s in after]
        if fewest := min(left, key=lambda each: sum(each.values()), default={}):
            told = f"{sum(fewest.values())} jobs or more were open for {DRAINED_WITHIN} after the outage"
            breaches.append(f"{told}: {', '.join(fewest)}")
    return verdict("the queue drains after an outage", f"{len(outages)} outages", breaches)


def _hosts_in_trouble(finished: FinishedSimulation, begins: datetime, ends: datetime) -> set[str]:
    """Return the hosts with a fault of their own in this time, and those whose breaker rested already when it began.

    A probe that meets the outage makes a rest twice as long, up to a day: no job leaves before it is over.
    """
    scheduled = {
        each.host for each in finished.world.timetable.scheduled if each.begins < ends and (each.ends or ends) > begins
    }
    return scheduled | finished.resting(begins)


def bounded(finished: FinishedSimulation) -> LawVerdict:
    """No job is tried more often than it may be, and no dead letter retried more often."""
    breaches = [
        f"job {job.id} was tried {job.attempts} times of {job.max_attempts}"
        for job in finished.rows.jobs
        if job.attempts > job.max_attempts
    ]
    breaches += [
        f"the letter of job {letter.job_id} was retried {letter.retry_count} times of {letter.max_retries}"
        for letter in finished.rows.dead_letters.values()
        if letter.retry_count > letter.max_retries
    ]
    return verdict("attempts are bounded", f"{len(finished.rows.jobs)} jobs", breaches)


def dead_letters(finished: FinishedSimulation) -> LawVerdict:
    """A dead letter stays until it is resolved, and says where its job stands."""
    kept = finished.rows.dead_letters
    died = {
        event.job_id for event in finished.recorder.events if isinstance(event, JobDead)
    } | finished.inspector.dead_letters_seen
    breaches = [f"the letter of job {key} vanished" for key in sorted(died - set(kept))]
    expected = {"pending": {"dead", "stale"}, "retrying": OPEN, "resolved": {"done", "refused"}, "discarded": {"dead"}}
    for job in finished.rows.jobs:
        letter = kept.get(job.id)
        if letter is not None and job.status not in expected[letter.status]:
            breaches.append(f"the letter of job {job.id} is {letter.status}, but the job is {job.status}")
        if letter is None and job.status == "dead":
            breaches.append(f"job {job.id} is dead and has no letter")
    return verdict("dead letters never vanish", f"{len(kept)} letters", breaches)


def upkeep(finished: FinishedSimulation) -> LawVerdict:
    """No worker ends by an error and periodic work goes well, whatever else goes wrong."""
    ticks = [event for event in finished.recorder.events if isinstance(event, TickRan)]
    failed = [f"{t.name} at {t.at:%d %H:%M}: {t.detail.strip().splitlines()[-1]}" for t in ticks if t.status != "ok"]
    fell = [f"{each.worker} fell: {each.error}" for each in finished.recorder.events if isinstance(each, WorkerFell)]
    return verdict("periodic work goes well", f"{len(ticks)} ticks", failed + fell)
