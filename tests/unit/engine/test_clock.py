"""Setting the machine's clock stops no work: time goes on, and what happened is told."""

import asyncio
from datetime import datetime, timedelta

import pytest

from rig.clock import NOON
from tidemill.engine.clock import CHECKED_EVERY, LONGEST_NAP, ClockJump, RealClock

HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
NOTHING = timedelta(0)


class Machine:
    """A machine whose clock can be set, and whose sleepers pass the time."""

    def __init__(self) -> None:
        self.steady = 1_000.0
        self.set_by = NOTHING
        self.naps: list[float] = []

    def wall(self):
        return NOON + timedelta(seconds=self.steady - 1_000) + self.set_by

    async def sleep(self, seconds):
        self.naps.append(seconds)
        self.steady += seconds
        await asyncio.sleep(0)  # noqa: TID251 - gives way, waits for no time

    def clock(self):
        return RealClock(self.wall, lambda: self.steady, self.sleep)

    def pass_time(self, clock, time):
        """Let time pass as it does where somebody watches; answers every jump that was noticed."""
        jumps = []
        for _ in range(time // CHECKED_EVERY):
            self.steady += CHECKED_EVERY.total_seconds()
            if jump := clock.compare():
                jumps.append(jump)
        return jumps


def test_time_passes_as_the_machine_s_does():
    machine = Machine()
    clock = machine.clock()
    assert machine.pass_time(clock, HOUR) == []
    assert clock.now() == machine.wall() == NOON + HOUR


def test_a_clock_set_forward_is_noticed_and_followed():
    machine = Machine()
    clock = machine.clock()
    machine.set_by = HOUR
    assert machine.pass_time(clock, CHECKED_EVERY) == [ClockJump(HOUR, HOUR)]
    assert machine.pass_time(clock, HOUR) == []
    assert clock.now() == machine.wall()


def test_a_clock_set_back_is_noticed_and_waited_for_at_half_speed():
    machine = Machine()
    clock = machine.clock()
    machine.set_by = -HOUR
    assert machine.pass_time(clock, CHECKED_EVERY) == [ClockJump(-HOUR, NOTHING)]
    before = clock.now()
    assert before > NOON
    machine.pass_time(clock, HOUR)
    assert clock.now() - before == HOUR / 2
    machine.pass_time(clock, 2 * HOUR)
    assert abs(clock.now() - machine.wall()) < SECOND


def test_time_never_goes_back_for_a_clock_set_back():
    machine = Machine()
    clock = machine.clock()
    seen: list[datetime] = []
    for _ in range(2_000):
        machine.set_by = -HOUR if len(seen) > 10 else NOTHING
        machine.pass_time(clock, CHECKED_EVERY)
        seen.append(clock.now())
    assert seen == sorted(seen)


def test_a_clock_set_back_by_days_is_followed_because_nobody_can_wait_for_it():
    machine = Machine()
    clock = machine.clock()
    machine.set_by = -2 * DAY
    assert machine.pass_time(clock, CHECKED_EVERY) == [ClockJump(-2 * DAY, -2 * DAY)]
    assert clock.now() == machine.wall()


def test_a_clock_that_is_kept_in_step_is_followed_without_a_word():
    machine = Machine()
    clock = machine.clock()
    for _ in range(1_000):
        machine.set_by -= timedelta(milliseconds=2)
        assert machine.pass_time(clock, CHECKED_EVERY) == []
    assert abs(clock.now() - machine.wall()) < timedelta(milliseconds=10)


def test_who_starts_on_a_clock_that_was_set_back_begins_where_the_others_were():
    machine = Machine()
    clock = machine.clock()
    assert clock.catch_up(NOON + HOUR) == ClockJump(-HOUR, HOUR)
    assert clock.now() == NOON + HOUR
    machine.pass_time(clock, HOUR)
    assert clock.now() == NOON + HOUR * 1.5


@pytest.mark.parametrize("ahead", [-HOUR, NOTHING, 10 * SECOND])
def test_a_record_that_is_no_later_than_clocks_differ_changes_nothing(ahead):
    clock = Machine().clock()
    assert clock.catch_up(NOON + ahead) is None
    assert clock.now() == NOON


def test_a_record_from_another_time_altogether_is_told_and_not_believed():
    clock = Machine().clock()
    assert clock.catch_up(NOON + 400 * DAY) == ClockJump(-400 * DAY, NOTHING)
    assert clock.now() == NOON


async def test_a_sleeper_wakes_at_its_moment_and_no_earlier():
    machine = Machine()
    clock = machine.clock()
    await clock.sleep_until(NOON + 12 * SECOND)
    assert clock.now() == NOON + 12 * SECOND
    assert max(machine.naps) <= LONGEST_NAP


async def test_a_sleeper_notices_a_clock_set_forward():
    machine = Machine()
    clock = machine.clock()
    machine.set_by = HOUR
    clock.compare()
    await clock.sleep_until(NOON + HOUR)
    assert machine.naps == []


async def test_a_sleeper_sleeps_no_longer_for_a_clock_set_back():
    machine = Machine()
    clock = machine.clock()
    machine.set_by = -HOUR
    await clock.sleep_until(NOON + 20 * SECOND)
    assert sum(machine.naps) == 20


def test_the_real_machine_is_asked_by_default():
    clock = RealClock()
    assert clock.now() <= clock.now()
    assert clock.compare() is None
