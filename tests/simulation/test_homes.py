"""A housing market in virtual time: nothing that is there is taken off, and what left is gone in time."""

import msgspec
import pytest

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.bootstrap.system import System
from tidemill.core.quality.verification import Presence
from tidemill.verticals.listings.lab.fortnight import HomesPlan, simulate_homes
from tidemill.verticals.listings.lab.world import DOWN, TRUNCATED
from tidemill.verticals.listings.parts import ListingsParts

pytestmark = pytest.mark.shows("X3")


def told(outcome):
    return {verdict.law: verdict.told for verdict in outcome.verdicts if not verdict.holds}


@pytest.fixture(scope="module")
def days_with_faults(tmp_path_factory):
    plan = HomesPlan(days=2.5, homes_each=2)
    return simulate_homes(plan, build_simulated_system, tmp_path_factory.mktemp("homes"))


def test_every_law_holds_over_days_of_blocks_truncation_and_outages(days_with_faults):
    assert told(days_with_faults) == {}


def test_the_faults_were_really_met(days_with_faults):
    figures = days_with_faults.figures
    assert figures["runs not certified complete"] > 0
    assert figures["homes shown by several sources"] > 0
    assert figures["rents that moved"] > 0
    assert figures["fault met: down"] > 0


@pytest.mark.shows("L5")
def test_scraping_that_stops_for_two_days_takes_nothing_off_and_comes_back_without_doubles(tmp_path):
    plan = HomesPlan(days=2.8, homes_each=1, faults=(), siege=(DOWN, 0.4, 1.9))
    outcome = simulate_homes(plan, build_simulated_system, tmp_path)
    assert told(outcome) == {}
    assert outcome.figures["homes that faded"] > 0
    assert outcome.figures["homes that came back"] > 0


@pytest.mark.shows("B6")
def test_a_list_of_two_that_is_cut_to_one_for_days_takes_nothing_off_that_is_there(tmp_path):
    plan = HomesPlan(days=2.2, homes_each=2, faults=(), siege=(TRUNCATED, 0.3, 1.9))
    outcome = simulate_homes(plan, build_simulated_system, tmp_path)
    assert told(outcome) == {}
    assert outcome.figures["fault met: truncated"] > 100
    assert outcome.figures["homes verified"] > 0


def test_a_planted_bug_that_takes_no_answer_for_a_removal_is_found(tmp_path):
    def alter(system: System) -> None:
        record = system.part(ListingsParts).store.verification.record

        async def credulous(looked, now):
            return await record([msgspec.structs.replace(one, presence=Presence.GONE) for one in looked], now)

        system.part(ListingsParts).store.verification.record = credulous

    plan = HomesPlan(days=1.8, homes_each=3, faults=(), siege=(DOWN, 0.3, 1.4))
    outcome = simulate_homes(plan, lambda environment: build_simulated_system(environment, alter), tmp_path)
    assert "nothing that is still there is taken off" in told(outcome)
