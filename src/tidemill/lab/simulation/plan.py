"""What is simulated, and what comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.lab.faults import ALL_KINDS
from tidemill.lab.simulation.accidents import ACCIDENTS
from tidemill.lab.simulation.inspector import ReadRecords
from tidemill.lab.simulation.laws import ENGINE_LAWS, Law, LawVerdict
from tidemill.lab.simulation.past_answers import ReaderLists
from tidemill.lab.world import DAILY, World

EVERYTHING = (*ALL_KINDS, *ACCIDENTS)
RHYTHMS = (DAILY, "every 96h", "adaptive 48h-144h", "every 96h", "adaptive 48h-144h")


class SimulationPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How long, how many sources and what goes wrong. `grain` is the coarseness of timers; zero makes them exact.

    At so many random `moments` readers ask for what is shown, and the past is held against their answers at the end.
    """

    days: float = 30
    sources: int = 200
    seed: int = 7
    faults: tuple[str, ...] = EVERYTHING
    grain: timedelta = timedelta(seconds=1)
    moments: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A vertical's sites, put to the test: its world, where its records end up, and its laws.

    `noun` is what its records are called, `ticks` how often its own periodic work is done, `lists` what readers ask
    for.
    """

    vertical: str
    world: World
    entries: Sequence[Mapping[str, Any]]
    noun: str
    read_records: ReadRecords
    laws: Sequence[Law] = ENGINE_LAWS
    ticks: Mapping[str, str] = field(default_factory=dict)
    lists: ReaderLists = field(default_factory=dict)


class SimulationOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a plan."""

    plan: Any
    verdicts: tuple[LawVerdict, ...]
    figures: dict[str, int]
    log_lines: int
    log_sha256: str

    @property
    def holds(self) -> bool:
        """Whether every law held."""
        return all(verdict.holds for verdict in self.verdicts)


def usual_entries(world: World) -> list[dict[str, Any]]:
    """Return the sites as sources, on the rhythms that people use; every third may be asked two at a time."""
    entries = world.sources()
    for number, entry in enumerate(entries):
        for target in entry["targets"]:
            target["schedule"] = RHYTHMS[number // 2 % len(RHYTHMS)]
        if number % 3 == 0:
            entry["pace"] = {"interval_seconds": 2.0, "burst": 2, "parallel": 2}
    return entries
