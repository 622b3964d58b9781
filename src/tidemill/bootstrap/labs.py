"""What every vertical brings to the lab."""

from tidemill.bootstrap.plugins import PLUGINS
from tidemill.lab.demo import DemoOption
from tidemill.lab.part import CorpusPages, LabPart, SitesOption
from tidemill.lab.simulation.choice import SimulationChoice

LAB_PARTS: tuple[LabPart, ...] = tuple(part for plugin in PLUGINS.values() if (part := plugin.lab()) is not None)
"""In the order in which their options are listed; the first one with a simulation is the default."""
SITES_OPTIONS: tuple[SitesOption, ...] = tuple(part.sites for part in LAB_PARTS if part.sites)
DEMO_OPTIONS: tuple[DemoOption, ...] = tuple(part.demo for part in LAB_PARTS if part.demo)
SIMULATIONS: dict[str, SimulationChoice] = {
    part.simulation.name: part.simulation for part in LAB_PARTS if part.simulation
}
CORPORA: tuple[CorpusPages, ...] = tuple(part.corpus for part in LAB_PARTS if part.corpus)
