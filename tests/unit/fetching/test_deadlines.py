"""Limits that share timers: each holds, none is cut short, and a cancellation stays one."""

import asyncio

import pytest

from rig.clock import NOON
from tidemill.fetching.deadlines import Deadlines
from tidemill.lab.virtual import VirtualClock, run_virtual


async def wait_within(deadlines: Deadlines, seconds: float) -> float:
    """Wait for ever under a limit; answers how long that was."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(TimeoutError), deadlines.within(seconds):
        await loop.create_future()
    return loop.time() - began


def test_work_is_stopped_when_its_time_is_up_and_at_most_a_tenth_of_a_second_later() -> None:
    async def work(_: VirtualClock) -> list[float]:
        deadlines = Deadlines()
        return await asyncio.gather(*(wait_within(deadlines, seconds) for seconds in (0.03, 1.0, 1.02, 30.0)))

    for took, limit in zip(run_virtual(work, NOON), (0.03, 1.0, 1.02, 30.0), strict=True):
        assert limit <= took <= limit + 0.1 + 1e-6


def test_a_thousand_requests_of_one_moment_cost_one_timer() -> None:
    async def work(_: VirtualClock) -> int:
        deadlines = Deadlines()
        waiting = [asyncio.ensure_future(wait_within(deadlines, 5)) for _ in range(1000)]
        await asyncio.sleep(0)  # noqa: TID251 -- passes the turn, waits for no time
        timers = len(deadlines._timers)
        await asyncio.gather(*waiting)
        assert (deadlines._timers, deadlines._limits) == ({}, {})
        return timers

    assert run_virtual(work, NOON) == 1


def test_work_that_is_done_in_time_is_left_alone() -> None:
    async def work(clock: VirtualClock) -> str:
        deadlines = Deadlines()
        with deadlines.within(1):
            done = "done"
        await clock.sleep_until(clock.now().replace(year=2027))
        return done

    assert run_virtual(work, NOON) == "done"


def test_a_cancellation_by_somebody_else_stays_a_cancellation() -> None:
    async def work(_: VirtualClock) -> bool:
        waiting = asyncio.ensure_future(wait_within(Deadlines(), 60))
        await asyncio.sleep(0)  # noqa: TID251 -- passes the turn, waits for no time
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return waiting.cancelled()

    assert run_virtual(work, NOON)


def test_closed_deadlines_leave_no_timer_behind() -> None:
    async def work(_: VirtualClock) -> None:
        deadlines = Deadlines()
        with deadlines.within(3600):
            deadlines.close()
        assert not deadlines._timers

    run_virtual(work, NOON)
