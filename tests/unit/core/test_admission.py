from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.admission import Admission, Backoff, QueueLimits, Rejection, admit, backoff_after, remaining_pause

pytestmark = pytest.mark.shows("O4")

LIMITS = QueueLimits(per_adapter=1_000, total=10_000)
FULL = Admission(0, 10, Rejection.QUEUE_FULL, timedelta(minutes=5))


def test_everything_is_taken_while_there_is_room():
    assert admit(10, 0, 0, LIMITS) == Admission(10)


def test_at_most_a_thousand_wait_per_adapter():
    assert admit(10, 995, 995, LIMITS) == Admission(5, 5, Rejection.QUEUE_FULL, LIMITS.retry_after)


def test_at_most_ten_thousand_wait_in_all():
    assert admit(1, 0, 10_000, LIMITS).rejected == 1


def test_a_cycle_that_is_mostly_rejected_pauses_scheduling():
    backoff = backoff_after(Backoff(), FULL, LIMITS, NOON)
    assert backoff == Backoff(NOON + timedelta(minutes=5), 1)
    assert backoff.is_active(NOON + timedelta(minutes=4))
    assert not backoff.is_active(NOON + timedelta(minutes=5))


def test_the_pause_doubles_up_to_an_hour():
    backoff, lengths = Backoff(), []
    for _ in range(6):
        backoff = backoff_after(backoff, FULL, LIMITS, NOON)
        lengths.append(remaining_pause(backoff, NOON) // timedelta(minutes=1))
    assert lengths == [5, 10, 20, 40, 60, 60]


def test_half_rejected_is_no_reason_to_pause():
    half = Admission(5, 5, Rejection.QUEUE_FULL, timedelta(minutes=5))
    assert backoff_after(Backoff(NOON, 3), half, LIMITS, NOON) == Backoff()


def test_an_idle_cycle_ends_the_backoff():
    assert backoff_after(Backoff(NOON, 3), Admission(0), LIMITS, NOON) == Backoff()
