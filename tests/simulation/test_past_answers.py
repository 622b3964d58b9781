"""The past is what was answered then: a law over random moments, for events, offers and homes."""

from pathlib import Path
from typing import Any

import pytest

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.lab.simulation.past_answers import LAW
from tidemill.lab.simulation.plan import Scenario, SimulationOutcome, SimulationPlan, usual_entries
from tidemill.lab.simulation.simulation import simulate
from tidemill.lab.world import WorldTerms, build_world
from tidemill.verticals.events.lab.simulation import simulate_agendas
from tidemill.verticals.listings.lab.fortnight import HomesPlan, simulate_homes
from tidemill.verticals.prices.lab.group import build_shop_sites

pytestmark = pytest.mark.shows("X1")

OFFERS = {"/api/v1/offers?limit=500": ("last_seen_at",)}


def told(outcome: SimulationOutcome) -> list[str]:
    """What speaks against the law."""
    (found,) = [verdict for verdict in outcome.verdicts if verdict.law == LAW]
    return list(found.told)


def no_offers(connection: Any) -> list[Any]:
    """The engine's laws about records are not what is tried here."""
    del connection
    return []


def test_events_of_a_moment_are_what_readers_saw_then(tmp_path: Path) -> None:
    plan = SimulationPlan(days=3, sources=4, seed=5, moments=25)
    assert told(simulate_agendas(plan, build_simulated_system, tmp_path)) == []


def test_homes_of_a_moment_are_what_readers_saw_then_with_their_freshness(tmp_path: Path) -> None:
    plan = HomesPlan(days=2.5, homes_each=6, moments=25)
    assert told(simulate_homes(plan, build_simulated_system, tmp_path)) == []


def shops(days: float, moments: int, folder: Path) -> SimulationOutcome:
    """Some days of shops whose prices move and whose products sell out."""
    plan = SimulationPlan(days=days, sources=3, moments=moments, faults=("worker-crash",))
    terms = WorldTerms(seed=plan.seed)
    world = build_world(terms, [build_shop_sites(plan.sources, terms)], days=plan.days)
    entries = [{**entry, "visibility": "ELIGIBLE"} for entry in usual_entries(world)]
    scenario = Scenario(
        vertical="prices", world=world, entries=entries, noun="offers", read_records=no_offers, laws=(), lists=OFFERS
    )
    return simulate(plan, scenario, build_simulated_system, folder)


def test_offers_of_a_moment_are_what_readers_saw_then(tmp_path: Path) -> None:
    assert told(shops(4, 25, tmp_path)) == []


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What readers saw of cards is not kept."""

    async def nothing(*_: object) -> None:
        pass

    monkeypatch.setattr("tidemill.verticals.events.store.card_writes.keep_shown", nothing)


@pytest.mark.usefixtures("forgetful")
def test_the_law_notices_a_past_that_is_not_kept(tmp_path: Path) -> None:
    plan = SimulationPlan(days=3, sources=4, seed=5, moments=25)
    assert told(simulate_agendas(plan, build_simulated_system, tmp_path))
