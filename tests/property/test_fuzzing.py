"""A few seconds of the fuzzer, on a fixed seed: `make fuzz` goes on for ten minutes with another each time."""

import runpy
from pathlib import Path

import pytest

CASES = 40


@pytest.mark.shows("P3")
def test_random_pages_make_no_reader_throw(project_root: Path) -> None:
    fuzzer = runpy.run_path(str(project_root / "tools" / "fuzz.py"))["Fuzzer"](7)
    failures = [(each.target, each.reason) for each in fuzzer.run(60, CASES)]
    assert failures == []
    assert fuzzer.cases == CASES
    assert fuzzer.reached > 1_000, "the readers are reached at all"
