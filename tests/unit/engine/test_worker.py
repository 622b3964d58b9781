"""A worker that cannot know whether its leases still hold does not act as if they did."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from rig.clock import NOON
from tidemill.engine.clock import ClockJump, ClockSkew
from tidemill.engine.supervisor import Worker
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.pipeline.ports import StoreLost

pytestmark = pytest.mark.shows("B1")

LEASE = timedelta(seconds=60)


class Register:
    """Signs workers in by number; `given_up` says that their jobs were given to others."""

    lease = LEASE
    heartbeat = LEASE / 3

    def __init__(self) -> None:
        self.keys = 0
        self.given_up = False
        self.skew: timedelta | None = None

    async def register(self, _name: str, _pid: int, _now: datetime, _lanes: Sequence[str] = ()) -> int:
        self.keys += 1
        return self.keys

    async def beat(self, _key: int, _now: datetime, skew: timedelta | None = None) -> bool:
        self.skew = skew
        return not self.given_up

    async def sign_off(self, _key: int, _now: datetime) -> int:
        return 0

    async def last_seen(self) -> datetime | None:
        return None

    async def release_lane(self, _key: int, _lane: str) -> int:
        return 0


class FrozenClock:
    """A clock whose sleepers all oversleep while the process stands still."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.frozen_until = NOON

    def now(self) -> datetime:
        return self._clock.now()

    async def sleep_until(self, moment: datetime) -> None:
        await self._clock.sleep_until(max(moment, self.frozen_until))


@pytest.mark.parametrize("given_up", [False, True])
def test_a_worker_that_overslept_its_lease_trusts_it_again_only_after_a_heartbeat(*, given_up: bool) -> None:
    async def main(virtual: VirtualClock) -> list[bool]:
        clock, register = FrozenClock(virtual), Register()
        worker = Worker(register, clock)
        await worker.sign_in()
        key = worker.key()
        beating = asyncio.create_task(worker.keep_alive())
        await virtual.sleep_until(NOON + timedelta(seconds=30))
        held = [worker.is_current(key)]
        clock.frozen_until = NOON + timedelta(seconds=130)
        register.given_up = given_up
        await virtual.sleep_until(NOON + timedelta(seconds=129))
        held.append(worker.is_current(key))
        await virtual.sleep_until(NOON + timedelta(seconds=131))
        held.append(worker.is_current(key))
        beating.cancel()
        return held

    assert run_virtual(main, NOON) == [True, False, not given_up]


async def test_without_a_heartbeat_the_key_alone_decides() -> None:
    register = Register()
    worker = Worker(register, FrozenClock(VirtualClock(asyncio.get_running_loop(), NOON)))
    await worker.sign_in()
    assert worker.is_current(1)
    assert not worker.is_current(2)


class AwayRegister(Register):
    """A register that cannot be reached between two moments, and notes when it was."""

    def __init__(self, begins: datetime, ends: datetime) -> None:
        super().__init__()
        self._begins, self._ends = begins, ends
        self.released: list[tuple[int, str]] = []

    async def beat(self, key: int, now: datetime, skew: timedelta | None = None) -> bool:
        if self._begins <= now < self._ends:
            msg = "away"
            raise StoreLost(msg)
        return await super().beat(key, now, skew)

    async def release_lane(self, key: int, lane: str) -> int:
        self.released.append((key, lane))
        return 0


def test_a_heartbeat_tells_of_the_skew_that_was_measured_last() -> None:
    async def main(virtual: VirtualClock) -> list[timedelta | None]:
        register = Register()
        worker = Worker(register, virtual)
        await worker.sign_in()
        told = []
        for skew in (None, ClockSkew(-0.9, 0.8), ClockSkew(0.75)):
            if skew is not None:
                worker.clock_compared(skew)
            await worker.release_lane("http")
            told.append(register.skew)
        return told

    assert run_virtual(main, NOON) == [None, timedelta(seconds=-0.1), timedelta(seconds=0.75)]


async def kept_alive(worker: Worker, clock: VirtualClock) -> None:
    """Beat as a supervisor lets it: again five seconds after trouble."""
    while True:
        with suppress(StoreLost):
            await worker.keep_alive()
        await clock.sleep_until(clock.now() + timedelta(seconds=5))


def test_nobody_is_given_up_while_the_database_is_away_nor_for_a_lease_after_it() -> None:
    begins, ends = NOON + timedelta(seconds=30), NOON + timedelta(minutes=10)

    async def main(clock: VirtualClock) -> list[tuple[bool, bool]]:
        worker = Worker(AwayRegister(begins, ends), clock)
        await worker.sign_in()
        beating = asyncio.create_task(kept_alive(worker, clock))
        told = []
        for moment in (begins, ends - LEASE, ends + timedelta(seconds=6), ends + LEASE / 2, ends + 2 * LEASE):
            await clock.sleep_until(moment)
            told.append((worker.may_rescue(), worker.is_current(worker.key())))
        beating.cancel()
        return told

    before, during, after, sparing, over = run_virtual(main, NOON)
    assert before == (True, True)
    assert during == (False, False)  # it asks no host any more either: others may have its jobs by now
    assert (after, sparing, over) == ((False, True), (False, True), (True, True))


def test_a_heartbeat_that_hangs_for_longer_than_a_lease_is_an_outage_too() -> None:
    class Hanging(Register):
        clock: VirtualClock

        async def beat(self, _key: int, _now: datetime, _skew: timedelta | None = None) -> bool:
            await self.clock.sleep_until(NOON + timedelta(minutes=5))
            return True

    async def main(clock: VirtualClock) -> bool:
        register = Hanging()
        register.clock = clock
        worker = Worker(register, clock)
        await worker.sign_in()
        beating = asyncio.create_task(worker.keep_alive())
        await clock.sleep_until(NOON + timedelta(minutes=5, seconds=1))
        beating.cancel()
        return worker.may_rescue()

    assert not run_virtual(main, NOON)


def test_a_lane_in_doubt_hands_back_its_own_jobs_under_the_key_that_other_lanes_work_under() -> None:
    async def main(clock: VirtualClock) -> list[tuple[int, str]]:
        register = AwayRegister(NOON, NOON)
        worker = Worker(register, clock)
        await worker.sign_in()
        await worker.release_lane("browser")
        assert worker.key() == 1
        register.given_up = True
        await worker.release_lane("http")
        return register.released

    assert run_virtual(main, NOON) == [(1, "browser"), (2, "http")]


@pytest.mark.parametrize("by", [timedelta(hours=1), timedelta(days=-2)])
def test_a_clock_that_is_set_costs_no_lease_and_no_worker(by: timedelta) -> None:
    async def main(virtual: VirtualClock) -> tuple[bool, bool]:
        clock = ShiftedClock(virtual)
        worker = Worker(Register(), clock)
        await worker.sign_in()
        beating = asyncio.create_task(worker.keep_alive())
        await virtual.sleep_until(NOON + timedelta(seconds=10))
        clock.shift = by
        worker.clock_jumped(ClockJump(by, by))
        told = worker.is_current(worker.key()), worker.may_rescue()
        beating.cancel()
        return told

    assert run_virtual(main, NOON) == (True, False)


class ShiftedClock(FrozenClock):
    """A clock that was set."""

    shift = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.shift
