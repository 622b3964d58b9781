"""Weeks of agenda sites in virtual time."""

from pathlib import Path
from typing import BinaryIO

from tidemill.lab.faults import ALL_KINDS
from tidemill.lab.simulation.choice import SimulationChoice, SimulationTerms
from tidemill.lab.simulation.plan import EVERYTHING, Scenario, SimulationOutcome, SimulationPlan, usual_entries
from tidemill.lab.simulation.simulation import simulate
from tidemill.lab.simulation.system_under_test import Build
from tidemill.lab.world import WorldTerms
from tidemill.verticals.events.lab.group import agenda_world
from tidemill.verticals.events.lab.laws import LAWS, read_events


def agenda_scenario(plan: SimulationPlan) -> Scenario:
    """The plan's agenda sites and their laws."""
    kinds = [kind for kind in plan.faults if kind in ALL_KINDS]
    terms = WorldTerms(seed=plan.seed, boilerplate=False, compression=False)
    world = agenda_world(plan.sources, terms, kinds=kinds, days=plan.days)
    return Scenario(
        vertical="events",
        world=world,
        entries=usual_entries(world),
        noun="events",
        read_records=read_events,
        laws=LAWS,
        ticks={"publish_events": "every 24h"},
        lists={"/api/v1/events?limit=500": ()},
    )


def simulate_agendas(
    plan: SimulationPlan, build: Build, folder: Path, log: BinaryIO | None = None
) -> SimulationOutcome:
    """Let the plan's days pass in `folder`, which must be empty."""
    return simulate(plan, agenda_scenario(plan), build, folder, log)


def run(terms: SimulationTerms, build: Build, folder: Path, log: BinaryIO | None) -> SimulationOutcome:
    """Simulate what a person asked for."""
    plan = SimulationPlan(
        days=terms.days, sources=terms.sources, seed=terms.seed, faults=terms.faults, moments=terms.moments
    )
    return simulate_agendas(plan, build, folder, log)


AGENDAS = SimulationChoice(
    name="agendas",
    about="sites with events",
    faults=EVERYTHING,
    subject=lambda terms: f"{terms.sources} sources",
    run=run,
)
