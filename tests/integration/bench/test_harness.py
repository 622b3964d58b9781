"""The benchmark must run, and void a wrong result; how fast anything is does not matter here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.contest import wrong_with
from benchmarks.task import EVENTS_PER_PAGE, Figures

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    words = ["--only", "tidemill,bare", "--pages", "60", "--rounds", "1"]
    places = ["--json", str(folder / "bench.json"), "--folder", str(folder / "work")]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *words, *places], cwd=ROOT, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, json.loads((folder / "bench.json").read_text())


def test_a_small_contest_measures_everybody_and_finds_every_event(report):
    _, figures = report
    assert {run["contender"]: run["problems"] for run in figures["runs"]} == {"tidemill": [], "bare": []}
    for run in figures["runs"]:
        assert run["figures"]["found"]["events"] == 60 * EVENTS_PER_PAGE
        assert run["pages_per_second"] > 0
        assert run["cpu_ms_per_page"] > 0
        assert run["figures"]["peak_mb"] > 0


def test_what_is_printed_names_the_goals_and_where_the_figures_are(report):
    printed, figures = report
    assert "bench.json" in printed.replace("\n", "")
    assert {goal["name"] for goal in figures["goals"]}


def test_a_result_with_an_event_too_few_is_void(report):
    _, figures = report
    found = {**figures["runs"][0]["figures"], "found": {"events": 60 * EVENTS_PER_PAGE - 1}}
    assert wrong_with(Figures(**found), 60) == ["events: 959 where 960 should be"]
