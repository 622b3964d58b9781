"""A simulation in numbers: what was done, what went wrong, and what came of it."""

from collections import Counter

from tidemill.core.failure import Failure
from tidemill.lab.faults import ScheduledFault
from tidemill.lab.simulation.laws.finished import FinishedSimulation
from tidemill.pipeline.happenings import BreakerMoved, JobDead, JobsRescued, JobWaits, PageGot

RECORDS = ("read", "accepted", "dropped", "quarantined", "inserted", "updated", "unchanged", "seen_again")


def figures(finished: FinishedSimulation) -> dict[str, int]:
    """Everything worth counting, by what a person calls it."""
    counts, rows = finished.recorder.log.counts, finished.rows
    letters = Counter(letter.status for letter in rows.dead_letters.values())
    moves = Counter(event.after for event in finished.recorder.events if isinstance(event, BreakerMoved))
    return {
        "sources": len(rows.sources),
        "runs": len(rows.runs),
        "runs complete": sum(bool(run["complete"]) for run in rows.runs.values()),
        "jobs": len(rows.jobs),
        "requests": len(finished.recorder.requests),
        "pages": counts["PageGot"],
        "pages unchanged": sum(isinstance(each, PageGot) and each.unchanged for each in finished.recorder.events),
        **{f"records {name.replace('_', ' ')}": _sum(finished, f"records_{name}") for name in RECORDS},
        f"{finished.noun} on the shelf": len(rows.records),
        "removals": len(rows.gone),
        "breakers opened": moves["OPEN"],
        "breakers closed": moves["CLOSED"],
        "dead letters": len(rows.dead_letters),
        **{f"dead letters {status}": count for status, count in sorted(letters.items())},
        "workers killed": counts["WorkerKilled"],
        "workers frozen": counts["WorkerFrozen"],
        "jobs rescued": sum(event.jobs for event in finished.recorder.events if isinstance(event, JobsRescued)),
        "leases lost": counts["LeaseLost"],
        "sources switched off": sum(len(times) for times in finished.times_off.values()),
        **_faults(finished),
    }


def _sum(finished: FinishedSimulation, name: str) -> int:
    return sum(run[name] for run in finished.rows.runs.values())


def _faults(finished: FinishedSimulation) -> dict[str, int]:
    """How many requests met each kind of fault; in an outage, how many tries could not even connect."""
    by_host: dict[str, list[ScheduledFault]] = {}
    for each in finished.world.timetable.scheduled:
        by_host.setdefault(each.host, []).append(each)
    met = Counter(
        each.kind
        for asked in finished.recorder.requests
        for each in by_host.get(asked.host, ())
        if each.holds(asked.at)
    )  # fmt: skip
    met["outage"] += sum(
        isinstance(each, JobWaits | JobDead) and each.failure is Failure.CONNECTION_LOST
        for each in finished.recorder.events
    )
    kinds = sorted({each.kind for each in finished.world.timetable.scheduled})
    return {f"fault met: {kind}": met[kind] for kind in kinds}
