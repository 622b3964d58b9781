"""Small worlds in which every fault occurs: the laws hold, and the same days pass twice."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.lab.simulation.plan import EVERYTHING, SimulationOutcome, SimulationPlan
from tidemill.verticals.events.lab.simulation import simulate_agendas

pytestmark = pytest.mark.shows("X3")

EXACT = timedelta(0)


def told(outcome: SimulationOutcome) -> list[str]:
    return [f"{verdict.law}: {words}" for verdict in outcome.verdicts for words in verdict.told]


@pytest.mark.parametrize("seed", [7, 11])
def test_every_law_holds_in_a_world_where_everything_goes_wrong(tmp_path: Path, seed: int) -> None:
    outcome = simulate_agendas(
        SimulationPlan(days=3, sources=12, seed=seed, grain=EXACT), build_simulated_system, tmp_path
    )
    assert told(outcome) == []
    assert outcome.holds
    assert outcome.figures["workers killed"] >= 1
    assert outcome.figures["jobs rescued"] >= 1
    assert outcome.figures["breakers opened"] >= 1
    assert outcome.figures["dead letters"] >= 1


def test_without_faults_nothing_fails_and_nothing_is_late(tmp_path: Path) -> None:
    outcome = simulate_agendas(SimulationPlan(days=2, sources=6, seed=3, faults=()), build_simulated_system, tmp_path)
    assert told(outcome) == []
    assert outcome.figures["dead letters"] == 0
    assert outcome.figures["runs"] == outcome.figures["runs complete"]


RUN = """
import sys
from pathlib import Path
from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.lab.simulation.plan import SimulationPlan
from tidemill.verticals.events.lab.simulation import simulate_agendas
folder = Path(sys.argv[1])
with (folder / "log").open("wb") as log:
    simulate_agendas(SimulationPlan(days=2.2, sources=12, seed=5), build_simulated_system, folder, log)
"""


def test_the_same_days_pass_twice_byte_for_byte_whatever_the_order_of_hashes(tmp_path: Path) -> None:
    logs = []
    for number in ("1", "2"):
        folder = tmp_path / number
        folder.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": number}  # noqa: TID251 - a child process needs its own
        subprocess.run([sys.executable, "-c", RUN, str(folder)], check=True, env=environment)
        logs.append((folder / "log").read_bytes())
    assert len(logs[0].splitlines()) > 500
    assert logs[0] == logs[1]


def test_another_seed_is_another_world(tmp_path: Path) -> None:
    digests = set()
    for seed in (1, 2):
        (tmp_path / str(seed)).mkdir()
        plan = SimulationPlan(days=0.2, sources=2, seed=seed, faults=())
        digests.add(simulate_agendas(plan, build_simulated_system, tmp_path / str(seed)).log_sha256)
    assert len(digests) == 2


def test_faults_and_accidents_are_known_by_name() -> None:
    assert {"outage", "redesign", "worker-crash", "frozen-worker", "source-off"} <= set(EVERYTHING)
