"""A simulation that a vertical offers to `tidemill simulate`."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from tidemill.lab.simulation.plan import SimulationOutcome
from tidemill.lab.simulation.system_under_test import Build


class SimulationTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What a person may ask of any simulation; one that has a fixed number of sources ignores theirs."""

    days: float
    sources: int
    seed: int
    faults: tuple[str, ...]
    moments: int = 0


RunSimulation = Callable[[SimulationTerms, Build, Path, BinaryIO | None], SimulationOutcome]
"""Runs in an empty folder and writes every event to the file, if there is one: the same bytes for the same terms."""


class SimulationChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A world by name: what it is in a few words, which faults it knows, and how it is run.

    `subject` says in words over what the days pass.
    """

    name: str
    about: str
    faults: tuple[str, ...]
    subject: Callable[[SimulationTerms], str]
    run: RunSimulation
