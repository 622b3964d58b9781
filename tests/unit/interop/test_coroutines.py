"""Other people's coroutines run to their end, also inside a running loop; what waits is refused."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tidemill.interop.coroutines import MustWait, run_through, run_to_end


async def seven() -> int:
    return await asyncio.shield(asyncio.get_running_loop().create_task(number(7)))


async def number(value: int) -> int:
    return value


async def three() -> AsyncIterator[int]:
    for value in range(3):
        yield await asyncio.get_running_loop().create_task(number(value))


def two() -> Iterator[int]:
    yield from (1, 2)


def test_a_coroutine_comes_to_its_end_without_a_loop():
    assert run_to_end(seven()) == 7


async def test_a_coroutine_comes_to_its_end_inside_a_loop_which_goes_on():
    assert run_to_end(seven()) == 7
    assert asyncio.get_running_loop().is_running()
    assert await seven() == 7


def test_a_coroutine_that_waits_is_refused_and_the_next_one_is_not_affected():
    with pytest.raises(MustWait, match="outside its page"):
        run_to_end(asyncio.Event().wait())
    assert run_to_end(seven()) == 7


@pytest.mark.parametrize(
    ("answer", "walked"),
    [(None, []), ({"a": 1}, [{"a": 1}]), ([1, 2], [1, 2]), ("text", ["text"])],
)
def test_whatever_a_callback_returns_is_walked_over(answer, walked):
    assert list(run_through(answer)) == walked


def test_generators_of_both_kinds_are_walked_over():
    assert list(run_through(two())) == [1, 2]
    assert list(run_through(three())) == [0, 1, 2]
