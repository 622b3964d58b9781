"""A simulation in numbers: what was done, what went wrong, and what came of it."""

from collections import Counter

from tidemill.core.failure import Failure
from tidemill.lab.faults import Spell
from tidemill.lab.laws.case import Case
from tidemill.pipeline.happenings import BreakerMoved, JobDead, JobsRescued, JobWaits, PageGot

RECORDS = ("read", "accepted", "dropped", "quarantined", "inserted", "updated", "unchanged", "seen_again")


def figures(case: Case) -> dict[str, int]:
    """Everything worth counting, by what a person calls it."""
    counts, books = case.witness.log.counts, case.books
    letters = Counter(letter.status for letter in books.letters.values())
    moves = Counter(event.after for event in case.witness.events if isinstance(event, BreakerMoved))
    return {
        "sources": len(books.sources),
        "runs": len(books.runs),
        "runs complete": sum(bool(run["complete"]) for run in books.runs.values()),
        "jobs": len(books.jobs),
        "requests": len(case.witness.requests),
        "pages": counts["PageGot"],
        "pages unchanged": sum(isinstance(each, PageGot) and each.unchanged for each in case.witness.events),
        **{f"records {name.replace('_', ' ')}": _sum(case, f"records_{name}") for name in RECORDS},
        "events on the shelf": len(books.events),
        "removals": len(books.gone),
        "breakers opened": moves["OPEN"],
        "breakers closed": moves["CLOSED"],
        "dead letters": len(books.letters),
        **{f"dead letters {status}": count for status, count in sorted(letters.items())},
        "workers killed": counts["WorkerKilled"],
        "workers frozen": counts["WorkerFrozen"],
        "jobs rescued": sum(event.jobs for event in case.witness.events if isinstance(event, JobsRescued)),
        "leases lost": counts["LeaseLost"],
        "sources switched off": sum(len(times) for times in case.times_off.values()),
        **_faults(case),
    }


def _sum(case: Case, name: str) -> int:
    return sum(run[name] for run in case.books.runs.values())


def _faults(case: Case) -> dict[str, int]:
    """How many requests met each kind of fault; in an outage, how many tries could not even connect."""
    spells: dict[str, list[Spell]] = {}
    for spell in case.world.timetable.spells:
        spells.setdefault(spell.host, []).append(spell)
    met = Counter(
        spell.kind
        for asked in case.witness.requests
        for spell in spells.get(asked.host, ())
        if spell.holds(asked.at)
    )  # fmt: skip
    met["outage"] += sum(
        isinstance(each, JobWaits | JobDead) and each.failure is Failure.CONNECTION_LOST for each in case.witness.events
    )
    kinds = sorted({spell.kind for spell in case.world.timetable.spells})
    return {f"fault met: {kind}": met[kind] for kind in kinds}
