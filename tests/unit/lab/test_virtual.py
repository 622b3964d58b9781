import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest

from tidemill.lab.virtual import Deadlock, VirtualClock, run_virtual

pytestmark = pytest.mark.shows("X3")

EPOCH = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_year_of_hours_passes_at_once_and_each_at_its_own_moment() -> None:
    async def main(clock: VirtualClock) -> list[datetime]:
        moments = []
        for hour in range(1, 366 * 24):
            await clock.sleep_until(EPOCH + timedelta(hours=hour))
            moments.append(clock.now())
        return moments

    assert run_virtual(main, EPOCH) == [EPOCH + timedelta(hours=hour) for hour in range(1, 366 * 24)]


def test_a_timer_years_away_is_reached_to_the_microsecond() -> None:
    odd = EPOCH + timedelta(days=3650, microseconds=333_333)

    async def main(clock: VirtualClock) -> datetime:
        await clock.sleep_until(odd)
        return clock.now()

    assert run_virtual(main, EPOCH) == odd


def test_sleeping_until_a_moment_that_has_passed_takes_no_time() -> None:
    async def main(clock: VirtualClock) -> datetime:
        await clock.sleep_until(EPOCH - DAY)
        return clock.now()

    assert run_virtual(main, EPOCH) == EPOCH


def test_sleepers_wake_in_the_order_of_their_moments() -> None:
    async def main(clock: VirtualClock) -> list[int]:
        woken: list[int] = []

        async def sleeper(number: int) -> None:
            await clock.sleep_until(EPOCH + number * DAY)
            woken.append(number)

        await asyncio.gather(*(sleeper(number) for number in (3, 1, 2)))
        return woken

    assert run_virtual(main, EPOCH) == [1, 2, 3]


def test_time_outs_of_asyncio_run_in_virtual_time() -> None:
    async def main(clock: VirtualClock) -> timedelta:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(86_400):
                await asyncio.Event().wait()
        return clock.now() - EPOCH

    assert run_virtual(main, EPOCH) == DAY


def test_a_cancelled_sleep_leaves_no_timer_behind() -> None:
    async def main(clock: VirtualClock) -> datetime:
        sleeper = asyncio.create_task(clock.sleep_until(EPOCH + 100 * DAY))
        await clock.sleep_until(EPOCH + DAY)
        sleeper.cancel()
        await asyncio.wait([sleeper])
        await clock.sleep_until(EPOCH + 2 * DAY)
        return clock.now()

    assert run_virtual(main, EPOCH) == EPOCH + 2 * DAY


def test_a_deadlock_is_raised_and_says_who_waits() -> None:
    async def main(_clock: VirtualClock) -> None:
        waiting = asyncio.create_task(asyncio.Event().wait(), name="the fetcher")
        await waiting

    with pytest.raises(Deadlock, match=r"no timer is set: Task-\d+ \(.*main, line \d+\), the fetcher \(Event.wait"):
        run_virtual(main, EPOCH)


def test_work_for_a_thread_is_done_here_and_now() -> None:
    async def main(clock: VirtualClock) -> tuple[bool, datetime]:
        thread = await asyncio.to_thread(threading.current_thread)
        return thread is threading.current_thread(), clock.now()

    assert run_virtual(main, EPOCH) == (True, EPOCH)


def test_what_goes_wrong_in_a_thread_reaches_who_awaits_it() -> None:
    async def main(_clock: VirtualClock) -> None:
        await asyncio.to_thread(int, "no number")

    with pytest.raises(ValueError, match="no number"):
        run_virtual(main, EPOCH)


def test_two_runs_do_the_same_in_the_same_order() -> None:
    async def main(clock: VirtualClock) -> list[str]:
        log: list[str] = []
        queue: asyncio.Queue[int] = asyncio.Queue(maxsize=3)

        async def producer(name: int) -> None:
            for number in range(20):
                await clock.sleep_until(clock.now() + timedelta(seconds=(name * 7 + number * 3) % 11))
                await queue.put(name * 100 + number)

        async def consumer(name: str) -> None:
            while True:
                got = await queue.get()
                await clock.sleep_until(clock.now() + timedelta(milliseconds=got % 13))
                log.append(f"{clock.now().isoformat()} {name} {got}")
                queue.task_done()

        consumers = [asyncio.create_task(consumer(name)) for name in "abc"]
        await asyncio.gather(*(producer(name) for name in range(5)))
        await queue.join()
        for task in consumers:
            task.cancel()
        return log

    first = run_virtual(main, EPOCH)
    assert first == run_virtual(main, EPOCH)
    assert len(first) == 100
