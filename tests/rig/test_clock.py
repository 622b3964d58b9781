from datetime import timedelta

import pytest

from rig.clock import NOON, LoadedDice, SettableClock, seeded_dice

HOUR = timedelta(hours=1)


async def test_sleeping_jumps_to_the_moment_and_never_back(clock: SettableClock) -> None:
    await clock.sleep_until(NOON + HOUR)
    await clock.sleep_until(NOON)
    assert clock.now() == NOON + HOUR
    assert clock.slept_until == [NOON + HOUR, NOON]


def test_a_clock_is_where_the_test_puts_it(clock: SettableClock) -> None:
    clock.set(NOON - HOUR)
    assert clock.advance(HOUR / 2) == NOON - HOUR / 2


def test_seeded_dice_fall_alike_each_time() -> None:
    assert seeded_dice(3).random() == seeded_dice(3).random()


def test_loaded_dice_fall_as_told_and_no_further() -> None:
    dice = LoadedDice(0.25)
    assert dice.random() == 0.25
    with pytest.raises(AssertionError, match="more often"):
        dice.random()
