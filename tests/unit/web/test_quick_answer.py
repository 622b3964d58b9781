"""Answers that are there in time."""

import asyncio
from datetime import timedelta

import pytest

from rig.clock import SettableClock
from tidemill.web.quick_answer import QuickAnswer

SECOND = timedelta(seconds=1)


class Source:
    """Gives numbers, each when it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self) -> int:
        self.asked += 1
        number = self.asked
        await self.may_answer.wait()
        if number == 3:
            raise ZeroDivisionError
        return number


def quick(source: Source, clock: SettableClock, patience: timedelta | None = timedelta(0)) -> QuickAnswer[int]:
    return QuickAnswer(source.ask, clock, 2 * SECOND, patience=patience, oldest=20 * SECOND)


async def test_the_last_answer_is_given_while_a_new_one_is_on_its_way(clock: SettableClock) -> None:
    source = Source()
    answer = quick(source, clock)
    assert await answer.get() == 1
    source.may_answer.clear()
    clock.advance(5 * SECOND)
    assert [await answer.get(), await answer.get(), source.asked] == [1, 1, 2]
    source.may_answer.set()
    clock.advance(20 * SECOND)
    assert await answer.get() == 2


async def test_one_that_is_too_old_is_never_given(clock: SettableClock) -> None:
    source = Source()
    answer = quick(source, clock)
    await answer.get()
    source.may_answer.clear()
    clock.advance(20 * SECOND)
    asking = asyncio.ensure_future(answer.get())
    await asyncio.wait({asking}, timeout=0.01)
    assert not asking.done()
    source.may_answer.set()
    assert await asking == 2


async def test_without_a_patience_the_new_one_is_waited_for(clock: SettableClock) -> None:
    source = Source()
    answer = quick(source, clock, None)
    await answer.get()
    clock.advance(5 * SECOND)
    assert await answer.get() == 2


async def test_a_failure_is_told_to_who_waits_and_asked_for_anew(clock: SettableClock) -> None:
    source = Source()
    source.asked = 2
    answer = quick(source, clock)
    with pytest.raises(ZeroDivisionError):
        await answer.get()
    assert await answer.get() == 4
