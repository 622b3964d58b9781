"""Hostile pages among good ones, on real workers with real readers, some of them killed: nobody else is hurt."""

import pytest

from rig.hostile_crowd import Crowd, expected_events, run_crowd

pytestmark = pytest.mark.shows("P3", "O6", "B1")


async def test_every_good_page_is_read_and_every_hostile_one_ends_with_its_reason(migrated_url: str) -> None:
    """A tight limit, so that some of them are too hard; how long it takes is measured by hand, see docs/readers.md."""
    crowd = Crowd(good=60, hostile=10, workers=2, settings={"reader_cpu_seconds": 0.05})
    outcome = await run_crowd(migrated_url, crowd)
    assert dict(outcome.good) == {"done": 60}
    assert (outcome.events, outcome.doubled, outcome.unanswered) == (expected_events(crowd), 0, 0)
    ends = {end for counts in outcome.hostile.values() for end in counts}
    assert "dead page_too_hard" in ends
    assert ends <= {"dead page_too_hard", "dead layout_changed", "dead too_large", "done"}


async def test_kills_of_readers_and_workers_lose_double_and_bury_nothing(migrated_url: str) -> None:
    crowd = Crowd(good=300, hostile=10, workers=2, kills=8, kill_every=0.1)
    outcome = await run_crowd(migrated_url, crowd)
    assert dict(outcome.good) == {"done": 300}
    assert (outcome.events, outcome.doubled, outcome.innocent_letters) == (expected_events(crowd), 0, 0)
    assert sum(outcome.killed.values()) > 0
