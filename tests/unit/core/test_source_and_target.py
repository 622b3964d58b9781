from datetime import timedelta

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.dead_letter import next_retry
from tidemill.core.source import Source, priority_score
from tidemill.core.target import BROKEN_AFTER, Target, TargetStatus, after_failure, after_success

SOURCE = Source(
    id=1, name="arnhem", vertical="events", base_url="https://arnhem.nl", adapter_id="events.generic",
    last_scraped_at=NOON - timedelta(days=2), historical_count=50, reliability=0.8, consecutive_failures=1,
)  # fmt: skip
TARGET = Target(
    id=1, source_id=1, url="https://arnhem.nl/agenda", canonical_url="https://arnhem.nl/agenda", host="arnhem.nl",
    adapter_id="events.generic",
)  # fmt: skip


@pytest.mark.shows("O1")
def test_the_priority_score_is_the_one_of_the_specification():
    assert priority_score(SOURCE, NOON) == 2 * 10 + 50 / 10 + 0.8 * 5 - 1 * 20


@pytest.mark.shows("O1")
def test_a_source_never_scraped_goes_before_one_scraped_yesterday():
    never = msgspec.structs.replace(SOURCE, last_scraped_at=None)
    yesterday = msgspec.structs.replace(SOURCE, last_scraped_at=NOON - timedelta(days=1))
    assert priority_score(never, NOON) > priority_score(yesterday, NOON)


@pytest.mark.shows("S4")
def test_the_fifth_failure_in_a_row_breaks_a_target():
    failing = msgspec.structs.replace(TARGET, consecutive_failures=BROKEN_AFTER - 1)
    assert after_failure(TARGET) == (TargetStatus.ACTIVE, 1)
    assert after_failure(failing) == (TargetStatus.BROKEN, BROKEN_AFTER)


@pytest.mark.shows("S4")
def test_a_success_mends_a_broken_target():
    broken = msgspec.structs.replace(TARGET, status=TargetStatus.BROKEN, consecutive_failures=7)
    assert after_success(broken) == (TargetStatus.ACTIVE, 0)


def test_a_success_does_not_resume_what_a_person_paused():
    paused = msgspec.structs.replace(TARGET, status=TargetStatus.PAUSED)
    assert after_success(paused) == (TargetStatus.PAUSED, 0)


@pytest.mark.shows("R2")
def test_a_dead_letter_is_tried_after_one_two_and_four_hours_and_then_waits_for_a_person():
    waits = [next_retry(count, NOON) for count in range(4)]
    assert waits == [NOON + timedelta(hours=1), NOON + timedelta(hours=2), NOON + timedelta(hours=4), None]
