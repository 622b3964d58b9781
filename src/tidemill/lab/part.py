"""What a vertical brings to the lab, in one value."""

from collections.abc import Callable
from datetime import date

import msgspec

from tidemill.lab.demo import DemoOption
from tidemill.lab.simulation.choice import SimulationChoice
from tidemill.lab.world import BuildGroup

NumberedPage = Callable[[int], bytes]
"""Returns the page with a number, the same every time."""


class SitesOption(msgspec.Struct, frozen=True, kw_only=True):
    """An option of the lab's server that says how many sites of a kind there are, and how they are drawn."""

    name: str
    default: int
    build: BuildGroup
    help: str | None = None


class CorpusPages(msgspec.Struct, frozen=True):
    """Pages for benchmarks: the start of their path, and how they are made, as seen from a first day."""

    path: str
    build: Callable[[date], NumberedPage]


class LabPart(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one vertical brings to the lab; all of it is optional but the vertical's name.

    `idle_ticks` are its periodic work that has nothing to do in a simulation of another vertical's sites, and is
    done once a day there.
    """

    vertical: str
    sites: SitesOption | None = None
    demo: DemoOption | None = None
    simulation: SimulationChoice | None = None
    corpus: CorpusPages | None = None
    idle_ticks: tuple[str, ...] = ()
