"""The simulation knows no vertical: shops, which have no laws of their own, are held to the engine's."""

import sqlite3
from pathlib import Path

import msgspec

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.lab.simulation.plan import Scenario, SimulationPlan, usual_entries
from tidemill.lab.simulation.simulation import simulate
from tidemill.lab.world import WorldTerms, build_world
from tidemill.verticals.prices.lab.group import build_shop_sites


class OfferRow(msgspec.Struct, frozen=True):
    id: int
    source_id: int
    url: str


def read_offers(connection: sqlite3.Connection) -> list[OfferRow]:
    return [OfferRow(*row) for row in connection.execute("SELECT id, source_id, url FROM source_products")]


def test_shops_keep_the_engines_laws(tmp_path: Path) -> None:
    plan = SimulationPlan(days=1.3, sources=3, faults=("worker-crash",))
    terms = WorldTerms(seed=plan.seed)
    world = build_world(terms, [build_shop_sites(plan.sources, terms)], days=plan.days)
    scenario = Scenario(
        vertical="prices", world=world, entries=usual_entries(world), noun="offers", read_records=read_offers
    )
    outcome = simulate(plan, scenario, build_simulated_system, tmp_path)
    assert [verdict.law for verdict in outcome.verdicts if not verdict.holds] == []
    assert outcome.figures["offers on the shelf"] > 0
    assert outcome.figures["workers killed"] == 1
