"""Schedules: when each target should be looked at next, by its schedule, its failures and what its site lets us."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from tidemill.core.outcome import Stage
from tidemill.core.target import BROKEN_AFTER
from tidemill.lab.faults import EVERYWHERE
from tidemill.lab.simulation.laws.finished import FinishedSimulation, LawVerdict, verdict
from tidemill.lab.world import DAILY
from tidemill.pipeline.happenings import JobDead, PageGot, StageDone

LONGEST = {DAILY: timedelta(hours=24), "every 96h": timedelta(hours=96), "adaptive 48h-144h": timedelta(hours=144)}
"""The longest time between two jobs that each rhythm asks for."""
SLACK = timedelta(hours=1, minutes=30)
"""For the rhythm of dispatch, and for the hour by which clocks change."""
AFTER_TROUBLE = timedelta(days=2)
"""The longest rest of a breaker, and a day's look missed for it."""
WEEKLY = timedelta(days=7)
"""How often a broken target is looked at."""

Span = tuple[datetime, datetime]


class TargetTurn(NamedTuple):
    """A target broke, or answered again after it was broken."""

    at: datetime
    is_broken: bool


def schedules(finished: FinishedSimulation) -> LawVerdict:
    """Every target is scraped as often as its schedule says, as far as its site and its owner let us."""
    targets = {
        target["url"]: (f"{entry['name']}.test", target["schedule"])
        for entry in finished.entries
        for target in entry["targets"]
    }
    firsts = {key: [job for job in jobs if job.page_number == 1] for key, jobs in finished.jobs_by_target.items()}
    seen = {jobs[0].url: (key, jobs) for key, jobs in firsts.items() if jobs}
    turns = turning_points(finished)
    breaches: list[str] = []
    for url, (host, schedule) in targets.items():
        key, jobs = seen.get(url, (0, []))
        hindrances = [*_trouble(finished, host), *finished.times_off[host]]
        looks = [finished.world.start, *(job.created_at for job in jobs), finished.ends]
        for begins, ends in gaps(looks, LONGEST[schedule], turns.get(key, []), hindrances):
            breaches.append(f"{url} had no job from {begins:%d %H:%M} to {ends:%d %H:%M}")
    return verdict("every target keeps its appointments", f"{len(targets)} targets", breaches)


def gaps(
    looks: Sequence[datetime], usual: timedelta, turns: Sequence[TargetTurn] = (), hindrances: Sequence[Span] = ()
) -> Iterator[Span]:
    """The times between two looks at a target that were longer than they had to be."""
    for begins, ends in pairwise(looks):
        if ends > _possible(_due(begins, ends, turns, usual), hindrances) + SLACK:
            yield begins, ends


def _due(begins: datetime, ends: datetime, turns: Sequence[TargetTurn], usual: timedelta) -> datetime:
    """When the target is due after the job of `begins`: a week after it broke, at once when it answers again."""
    was_broken = next((turn.is_broken for turn in reversed(turns) if turn.at <= begins), False)
    due = begins + (WEEKLY if was_broken else usual)
    for turn in turns:
        if begins < turn.at <= ends:
            due = turn.at + WEEKLY if turn.is_broken else turn.at
    return due


def _possible(due: datetime, hindrances: Sequence[Span]) -> datetime:
    """The first moment from `due` on at which nothing stands in the way."""
    for begins, ends in sorted(hindrances):
        if begins <= due + SLACK and ends > due:
            due = ends
    return due


def _trouble(finished: FinishedSimulation, host: str) -> Iterator[Span]:
    for each in finished.world.timetable.scheduled:
        if each.host in {host, EVERYWHERE}:
            yield each.begins, finished.ends if each.ends is None else each.ends + AFTER_TROUBLE


def turning_points(finished: FinishedSimulation) -> dict[int, list[TargetTurn]]:
    """When each target broke and when it answered again, by what was announced: failures in a row, retries included."""
    target_of = {job.id: job.target_id for job in finished.rows.jobs if job.page_number == 1}
    failures: dict[int, int] = {}
    turns: dict[int, list[TargetTurn]] = {}
    for event in finished.recorder.events:
        match event:
            case JobDead(at=at, job_id=job_id) if job_id in target_of:
                key = target_of[job_id]
                failures[key] = failures.get(key, 0) + 1
                if failures[key] == BROKEN_AFTER:
                    turns.setdefault(key, []).append(TargetTurn(at, is_broken=True))
            case (
                PageGot(at=at, job_id=job_id, unchanged=True) | StageDone(at=at, job_id=job_id, stage=Stage.PERSIST)
            ) if job_id in target_of:
                key = target_of[job_id]
                if failures.pop(key, 0) >= BROKEN_AFTER:
                    turns.setdefault(key, []).append(TargetTurn(at, is_broken=False))
            case _:
                pass
    return turns
