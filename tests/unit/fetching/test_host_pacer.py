import asyncio
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rig.clock import NOON, SettableClock
from tidemill.core.pacing import Departure, Pace
from tidemill.fetching import host_pacer as pacer_module
from tidemill.fetching.host_pacer import HostPacer
from tidemill.lab.virtual import VirtualClock, run_virtual

pytestmark = pytest.mark.shows("F6")

SECOND = timedelta(seconds=1)


async def ask(
    pacer: HostPacer, clock: VirtualClock, pace: Pace, *, connects: timedelta, answers: timedelta
) -> datetime:
    """One request to one host; says when it really went out."""
    admitted = await pacer.admit("example.org", pace)
    try:
        await clock.sleep_until(clock.now() + connects)
        await admitted.wait_to_send()
        sent_at = clock.now()
        await clock.sleep_until(sent_at + answers)
        return sent_at
    finally:
        admitted.release()


def sends(pace: Pace, requests: list[tuple[float, float]]) -> list[datetime]:
    async def main(clock: VirtualClock) -> list[datetime]:
        pacer = HostPacer(clock)
        asked = [
            ask(pacer, clock, pace, connects=SECOND * connect, answers=SECOND * answer) for connect, answer in requests
        ]
        return sorted(await asyncio.gather(*asked))

    return run_virtual(main, NOON)


def test_requests_leave_one_interval_apart() -> None:
    assert sends(Pace(), [(0, 0.1)] * 4) == [NOON + timedelta(seconds=2 * turn) for turn in range(4)]


def test_a_burst_leaves_at_once_and_the_rest_at_the_pace() -> None:
    times = sends(Pace(SECOND, burst=3, parallel=9), [(0, 0)] * 5)
    assert times == [NOON, NOON, NOON, NOON + SECOND, NOON + 2 * SECOND]


def test_no_more_than_the_limit_are_under_way_together() -> None:
    times = sends(Pace(timedelta(0), parallel=2), [(0, 10)] * 4)
    assert times == [NOON, NOON, NOON + 10 * SECOND, NOON + 10 * SECOND]


def test_a_request_that_was_slow_to_connect_does_not_crowd_the_next() -> None:
    times = sends(Pace(2 * SECOND, parallel=2), [(2, 0), (0, 0)])
    assert times == [NOON + 2 * SECOND, NOON + 4 * SECOND]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=2, max_size=12),
    st.integers(1, 3), st.integers(1, 4), st.floats(0.01, 3),
)  # fmt: skip
def test_as_the_server_sees_it_no_pace_is_ever_exceeded(
    requests: list[tuple[float, float]], burst: int, parallel: int, interval: float
) -> None:
    pace = Pace(SECOND * interval, burst, parallel)
    times = sends(pace, requests)
    assert len(times) == len(requests)
    for first, last in zip(times, times[burst:], strict=False):
        assert last - first >= pace.interval - timedelta(microseconds=2)


async def test_a_host_without_spacing_is_never_slept_for(clock: SettableClock) -> None:
    pacer, pace = HostPacer(clock), Pace(timedelta(0), parallel=3)
    for _ in range(100):
        admitted = await pacer.admit("lab.test", pace)
        await admitted.wait_to_send()
        admitted.release()
    assert clock.slept_until == []


async def test_hosts_do_not_wait_for_each_other(clock: SettableClock) -> None:
    pacer = HostPacer(clock)
    for name in ("a.example", "b.example", "c.example"):
        await pacer.admit(name, Pace())
    assert clock.slept_until == []


async def test_a_slower_pace_for_a_request_is_charged_for_that_request(clock: SettableClock) -> None:
    pacer = HostPacer(clock)
    (await pacer.admit("example.org", Pace(10 * SECOND))).release()
    started = clock.now()
    (await pacer.admit("example.org", Pace(10 * SECOND))).release()
    assert clock.now() - started == 10 * SECOND


async def test_one_who_gives_up_waiting_holds_up_nobody(clock: SettableClock) -> None:
    pacer, pace = HostPacer(clock), Pace(timedelta(0), parallel=1)
    first = await pacer.admit("example.org", pace)
    waiting = [asyncio.create_task(pacer.admit("example.org", pace)) for _ in range(2)]
    await clock.sleep_until(clock.now())
    waiting[0].cancel()
    first.release()
    second = await waiting[1]
    second.release()
    assert waiting[0].cancelled()


async def test_the_pace_that_a_host_was_asked_at_is_known_afterwards(clock: SettableClock) -> None:
    pacer = HostPacer(clock)
    assert await pacer.pace_of("example.org") is None
    await pacer.admit("example.org", Pace(SECOND))
    assert await pacer.pace_of("example.org") == Pace(SECOND)


async def test_hosts_at_rest_are_forgotten_and_busy_ones_never(clock: SettableClock) -> None:
    pacer = HostPacer(clock)
    busy = await pacer.admit("busy.example", Pace())
    for number in range(pacer_module.HOSTS_REMEMBERED):
        (await pacer.admit(f"h{number}.example", Pace())).release()
        clock.advance(3 * SECOND)
    assert len(pacer._hosts) < 10
    assert "busy.example" in pacer._hosts
    busy.release()


def test_a_host_met_for_the_first_time_is_asked_as_others_left_it() -> None:
    async def main(clock: VirtualClock) -> list[datetime]:
        pacer, pace = HostPacer(clock), Pace(2 * SECOND, burst=2, parallel=2)
        sent = []
        for _ in range(2):
            admitted = await pacer.admit("example.org", pace, Departure(NOON + 4 * SECOND, NOON + 6 * SECOND))
            await admitted.wait_to_send()
            sent.append(clock.now())
        return sent

    assert run_virtual(main, NOON) == [NOON + 2 * SECOND, NOON + 4 * SECOND]
