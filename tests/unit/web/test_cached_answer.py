"""An answer is shared while it is fresh; nobody waits for one that takes long."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from rig.clock import SettableClock
from tidemill.web.cached_answer import REST, CachedAnswer

AGE = timedelta(seconds=5)


class Counting:
    """Counts 1, 2, 3; each takes `seconds` by its own timer, and waits until it is let go."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.asked = 0
        self.now = 0.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.broken = False

    async def ask(self) -> int:
        self.asked += 1
        answer = self.asked
        await self.gate.wait()
        if self.broken:
            raise ConnectionError
        self.now += self.seconds
        return answer

    def timer(self) -> float:
        return self.now


@pytest.fixture
def counting() -> Counting:
    return Counting()


def cached(counting: Counting, clock: SettableClock, age: timedelta = AGE) -> CachedAnswer[int]:
    return CachedAnswer(counting.ask, clock, age, may_lag=True, timer=counting.timer)


async def until(met: Callable[[], bool]) -> None:
    while not met():
        await turn()


async def turn() -> None:
    """Let whoever is ready go on."""
    turned = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(turned.set_result, None)
    await turned


async def test_a_prompt_answer_is_shared_for_its_age_and_then_asked_anew(
    counting: Counting, clock: SettableClock
) -> None:
    answer = cached(counting, clock)
    assert [await answer.get(), await answer.get()] == [1, 1]
    clock.advance(AGE + timedelta(seconds=1))
    assert await answer.get() == 2


async def test_without_an_age_every_prompt_answer_is_new(counting: Counting, clock: SettableClock) -> None:
    answer = cached(counting, clock, timedelta(0))
    assert [await answer.get(), await answer.get()] == [1, 2]


async def test_nobody_waits_for_a_lengthy_answer_while_there_is_an_earlier_one(
    counting: Counting, clock: SettableClock
) -> None:
    counting.seconds = 2.0
    answer = cached(counting, clock)
    assert await answer.get() == 1
    counting.gate.clear()
    clock.advance(timedelta(seconds=REST * 2 + 1))
    assert [await answer.get(), await answer.get()] == [1, 1]
    await until(lambda: counting.asked == 2)
    counting.gate.set()
    await until(lambda: counting.now == 4.0)
    assert await answer.get() == 2
    assert counting.asked == 2


async def test_a_lengthy_answer_rests_ten_times_as_long_as_it_took(counting: Counting, clock: SettableClock) -> None:
    counting.seconds = 2.0
    answer = cached(counting, clock)
    await answer.get()
    clock.advance(timedelta(seconds=REST * 2 - 1))
    assert await answer.get() == 1
    await turn()
    assert counting.asked == 1


async def test_what_nobody_asked_for_in_an_hour_is_waited_for(counting: Counting, clock: SettableClock) -> None:
    counting.seconds = 2.0
    answer = cached(counting, clock)
    await answer.get()
    clock.advance(timedelta(hours=1))
    assert await answer.get() == 2


async def test_an_answer_that_may_not_lag_is_waited_for_however_long_it_takes(
    counting: Counting, clock: SettableClock
) -> None:
    counting.seconds = 2.0
    answer = CachedAnswer(counting.ask, clock, AGE, timer=counting.timer)
    await answer.get()
    clock.advance(timedelta(seconds=6))
    assert await answer.get() == 2


async def test_what_somebody_did_is_counted_however_long_it_takes(counting: Counting, clock: SettableClock) -> None:
    counting.seconds = 2.0
    answer = cached(counting, clock)
    await answer.get()
    answer.forget()
    assert await answer.get() == 2


async def test_an_answer_from_before_a_change_is_not_kept(counting: Counting, clock: SettableClock) -> None:
    counting.seconds = 2.0
    answer = cached(counting, clock)
    counting.gate.clear()
    asking = asyncio.create_task(answer.get())
    await until(lambda: counting.asked == 1)
    answer.forget()
    counting.gate.set()
    assert await asking == 1
    assert await answer.get() == 2


async def test_the_first_lengthy_answer_is_unknown_until_it_is_there(counting: Counting, clock: SettableClock) -> None:
    counting.gate.clear()
    answer = cached(counting, clock)
    assert await answer.get_within(0) is None
    counting.gate.set()
    await until(lambda: answer.answered_at is not None)
    assert await answer.get_within(0) == 1
    assert counting.asked == 1


async def test_a_failure_meanwhile_is_told_to_the_next_one_who_asks(counting: Counting, clock: SettableClock) -> None:
    counting.seconds = 2.0
    answer = cached(counting, clock)
    await answer.get()
    counting.broken = True
    clock.advance(timedelta(seconds=30))
    assert await answer.get() == 1
    await until(lambda: answer.answered_at is None)
    with pytest.raises(ConnectionError):
        await answer.get()
