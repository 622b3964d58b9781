"""Matches of the lab for tests: played ball by ball, shown by three sites, replayed and judged."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random

import msgspec

from tidemill.lab.faults import Fault, ScheduledFault, Timetable
from tidemill.verticals.matches.lab.faults import KINDS
from tidemill.verticals.matches.lab.laws import LoggedStep, LogVerdict, judged
from tidemill.verticals.matches.lab.replay import ReplayOutcome, replay
from tidemill.verticals.matches.lab.script import PlayedMatch, from_cricsheet
from tidemill.verticals.matches.lab.scripted import scripted_matches
from tidemill.verticals.matches.lab.sites import SITES, MatchSites
from tidemill.verticals.matches.lab.timeline import TrueMatch, dealt

START = datetime(2026, 3, 7, 9, 0, tzinfo=UTC)
SEED = 7


@cache
def scripted(name: str) -> TrueMatch:
    """One of our own matches, on its clock."""
    played = next(match for match in scripted_matches(SEED) if match.id == name)
    return dealt(played, SEED, START)


SCRIPTED = [match.id for match in scripted_matches(SEED)]


def saved(folder: Path) -> list[PlayedMatch]:
    """The saved matches beside the checkout."""
    return [
        from_cricsheet(msgspec.json.decode(file.read_bytes()), file.stem)
        for file in sorted((folder / "matches").glob("*.json"))
    ]


def at_times(host: str, kind: str, fault: Fault, match: TrueMatch, *, minutes: int = 15) -> list[ScheduledFault]:
    """A fault at a site, for a quarter of each hour."""
    hours = int((match.ends_at - match.starts_at) / timedelta(hours=1)) + 1
    first = match.starts_at + timedelta(minutes=12)
    return [
        ScheduledFault(
            host=host, kind=kind, fault=fault, begins=first + timedelta(hours=hour),
            ends=first + timedelta(hours=hour, minutes=minutes),
        )
        for hour in range(hours)
    ]  # fmt: skip


def all_faults_in_turn(match: TrueMatch) -> Timetable:
    """Every fault at one site after the other, ten minutes each, so that two sites are always well."""
    found = []
    begins = match.starts_at + timedelta(minutes=3)
    for number, (kind, make) in enumerate(KINDS.items()):
        host = SITES[number % len(SITES)]
        ends = begins + timedelta(minutes=8)
        found.append(ScheduledFault(host=host, kind=kind, fault=make(), begins=begins, ends=ends))
        begins = ends + timedelta(minutes=1)
    return Timetable(found)


def mixed_faults(match: TrueMatch, dice: Random) -> Timetable:
    """Faults of any kind, up to three at once at each of two sites; which site is well changes every few minutes."""
    found: list[ScheduledFault] = []
    at = match.starts_at + timedelta(minutes=dice.uniform(-1, 6))
    while at < match.ends_at:
        span = timedelta(minutes=dice.uniform(2, 25))
        well = dice.choice(SITES)
        for host in [each for each in SITES if each != well]:
            for kind in dice.sample(sorted(KINDS), dice.choice((0, 1, 1, 2, 3))):
                begins = at + span * dice.uniform(0, 0.4)
                ends = begins + (at + span - begins) * dice.uniform(0.4, 1)
                found.append(ScheduledFault(host=host, kind=kind, fault=KINDS[kind](), begins=begins, ends=ends))
        at += span + timedelta(minutes=dice.choice((0, 0, 0.5, 3)))
    return Timetable(found)


def verdict_of(match: TrueMatch, outcome: ReplayOutcome) -> LogVerdict:
    """How the log of a replay compares with the truth."""
    return judged(match, steps_of(outcome))


def steps_of(outcome: ReplayOutcome) -> list[LoggedStep]:
    """The entries of a replay as the laws read them."""
    return [
        LoggedStep(entry.change.kind, entry.patch, entry.change.skipped, entry.change.state)
        for entry in outcome.entries
    ]


def replayed(
    match: TrueMatch,
    faults: Sequence[ScheduledFault] = (),
    *,
    hosts: Sequence[str] = SITES,
    every: timedelta = timedelta(seconds=2.5),
    restart_every: timedelta | None = None,
) -> tuple[ReplayOutcome, LogVerdict]:
    """Replay a match under faults and judge its log."""
    sites = MatchSites([match], Timetable(faults))
    outcome = replay(match, sites, hosts=hosts, every=every, restart_every=restart_every)
    return outcome, verdict_of(match, outcome)
