"""Saved pages, mutated: no reader throws, and none takes a second. `make fuzz` reads many more."""

import pytest

from rig.mutated_pages import FIXTURES, LIMIT, read_mutated


@pytest.mark.skipif(not FIXTURES.exists(), reason="the shared fixtures are not beside the project")
def test_mutated_pages_are_read_in_time_and_without_a_crash() -> None:
    assert 0 < read_mutated(24, seed=25) < LIMIT
