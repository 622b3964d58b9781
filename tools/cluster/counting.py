"""What a run of chaos is judged by, from the database, the sites' own memory and /health."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

WINDOW = 20.0
"""Seconds in which a host's requests are counted: a process that was stopped may deliver one late."""

LOST = "SELECT count(*) AS n FROM pipeline_jobs WHERE status <> 'done'"
DOUBLED = {
    "jobs": "SELECT count(*) - count(DISTINCT (target_id, due_at)) AS n FROM pipeline_jobs",
    "events": "SELECT count(*) - count(DISTINCT (title)) AS n FROM events",
    "sightings": "SELECT coalesce(sum(times_seen - 1), 0) AS n FROM events",
}
TITLES = "SELECT count(DISTINCT title) AS n FROM events"
SLOTS = "SELECT name, slot, status FROM tick_slots ORDER BY name, slot"
LETTERS = "SELECT count(*) AS n FROM dead_letter_queue WHERE status <> 'resolved'"
NAMED = {
    "kill -9 the broker": "broker is degraded",
    "freeze worker1": "worker worker1 has not been seen",
    "stop PostgreSQL": "the database does not answer",
    "kill -9 both beats": "beat is degraded",
    "cut the network": "worker worker3 has not been seen",
}
"""What /health must say after each trouble. One hung beat of two is no trouble: the other sends everything."""
TOLD_WITHIN = 75.0
"""Seconds after the beginning of a trouble within which /health must name it."""
HOT = (
    "SELECT relname, n_tup_upd AS updates, round(100.0 * n_tup_hot_upd / n_tup_upd) AS share FROM pg_stat_user_tables"
    " WHERE n_tup_upd > 100 ORDER BY n_tup_upd DESC"
)


def judge(chaos: Any, expected: int, cpu: dict[str, float]) -> list[str]:
    """Print the figures of a run, and return what is wrong with them."""
    problems = []

    def number(statement: str) -> int:
        return int(chaos.query(statement)[0]["n"])

    titles, lost, letters = number(TITLES), number(LOST), number(LETTERS)
    doubled = {name: number(statement) for name, statement in DOUBLED.items()}
    memory = json.loads((chaos.topology.folder / "origin.json").read_text())
    visits = Counter(memory["visits"].values())
    arrivals = {host: [moment for moment, _ in each] for host, each in memory["arrivals"].items()}
    excess = {host: over_pace(moments, chaos.interval) for host, moments in arrivals.items()}
    slots = slots_by_chore(chaos.query(SLOTS))
    print(f"\nevents {titles} of {expected}; jobs not done {lost}; open letters {letters}; doubled {doubled}")
    print(f"visits per page: {dict(sorted(visits.items()))}")
    print(f"most requests above the pace in {WINDOW:g} s at any host: {max(excess.values())}")
    print(f"closest two requests: {min(map(closest, arrivals.values())):.3f} s; {hurried_pairs(memory, chaos)}")
    print(f"slots: {slots}")
    print(f"CPU: { ({name: round(seconds, 1) for name, seconds in cpu.items()}) }")
    for at, words in told(chaos.health):
        print(f"{at:6.1f} s  /health: {words}")
    shares = ", ".join(f"{row['relname']} {row['share']} % of {row['updates']}" for row in chaos.query(HOT))
    print(f"updates in place: {shares}")
    problems += [f"/health never said {words!r}" for words in unnamed(chaos.told, chaos.health)]
    if titles != expected or lost or letters:
        problems.append(f"lost: {titles} events of {expected}, {lost} jobs, {letters} letters")
    if any(doubled.values()):
        problems.append(f"doubled: {doubled}")
    if max(excess.values()) > 0:
        problems.append(f"hurried: {[host for host, over in excess.items() if over > 0]}")
    if chaos.health and (left := chaos.health[-1][1]):
        problems.append(f"/health still says {left}")
    (Path("build") / "chaos.json").write_text(json.dumps({"told": chaos.told, "health": chaos.health}))
    return problems


def unnamed(told: list[tuple[float, str]], health: list[tuple[float, list[str], list[str]]]) -> list[str]:
    """What /health should have said of the troubles that there were, and did not say in time."""
    missing = []
    for began, words in told:
        for trouble, sentence in NAMED.items():
            heard = (
                any(sentence in reason for reason in reasons)
                for at, reasons, _ in health
                if began <= at <= began + TOLD_WITHIN
            )
            if words.startswith(trouble) and not any(heard):
                missing.append(sentence)
    return missing


def over_pace(moments: list[float], interval: float) -> int:
    """How many requests too many came within any window; one that was late may come beside one that was not."""
    allowed = int(WINDOW / interval) + 2
    most, first = 0, 0
    for last, moment in enumerate(moments):
        while moment - moments[first] > WINDOW:
            first += 1
        most = max(most, last - first + 1)
    return max(0, most - allowed)


def hurried_pairs(memory: dict[str, Any], chaos: Any) -> str:
    """How many requests came within half of the pace after the one before, and how many of these asked for the same."""
    pairs = [
        (earlier[1], later[1])
        for each in memory["arrivals"].values()
        for earlier, later in pairwise(each)
        if later[0] - earlier[0] < chaos.interval / 2
    ]
    same = sum(earlier == later for earlier, later in pairs)
    robots = sum("/robots.txt" in pair for pair in pairs)
    return f"{len(pairs)} within half the pace, {same} of them for the same page, {robots} with robots.txt"


def closest(moments: list[float]) -> float:
    """The shortest time between two requests."""
    return min((later - earlier for earlier, later in pairwise(moments)), default=0.0)


def slots_by_chore(rows: list[Any]) -> dict[str, str]:
    """Of each chore with many slots: how many were done, failed, and left out between the first and the last."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row["name"], []).append(row)
    told = {}
    for name, each in found.items():
        if len(each) < 3:  # noqa: PLR2004 - too few to have a rhythm
            continue
        gaps = [(later["slot"] - earlier["slot"]).total_seconds() for earlier, later in pairwise(each)]
        period = min(gaps)
        missed = sum(round(gap / period) - 1 for gap in gaps)
        failed = sum(row["status"] != "ok" for row in each)
        told[name] = f"{len(each)} done, {failed} not well, {missed} left out"
    return told


def told(health: list[tuple[float, list[str], list[str]]]) -> list[tuple[float, str]]:
    """What /health said, each time that it changed: the reasons in short, and how many workers it sees."""
    changes: list[tuple[float, str]] = []
    for at, reasons, workers in health:
        words = f"{'; '.join(reason[:70] for reason in reasons) or 'healthy'} ({len(workers)} workers)"
        if not changes or changes[-1][1] != words:
            changes.append((at, words))
    return changes
