"""A worker that cannot know whether its leases still hold does not act as if they did."""

import asyncio
from datetime import datetime, timedelta

import pytest

from rig.clock import NOON
from tidemill.engine.supervisor import Worker
from tidemill.lab.virtual import VirtualClock, run_virtual

pytestmark = pytest.mark.shows("B1")

LEASE = timedelta(seconds=60)


class Register:
    """Signs workers in by number; `given_up` says that their jobs were given to others."""

    lease = LEASE
    heartbeat = LEASE / 3

    def __init__(self) -> None:
        self.keys = 0
        self.given_up = False

    async def register(self, _name: str, _pid: int, _now: datetime) -> int:
        self.keys += 1
        return self.keys

    async def beat(self, _key: int, _now: datetime) -> bool:
        return not self.given_up

    async def sign_off(self, _key: int, _now: datetime) -> int:
        return 0

    async def last_seen(self) -> datetime | None:
        return None

    async def hand_back(self, _key: int, _lane: str) -> int:
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
        held = [worker.holds(key)]
        clock.frozen_until = NOON + timedelta(seconds=130)
        register.given_up = given_up
        await virtual.sleep_until(NOON + timedelta(seconds=129))
        held.append(worker.holds(key))
        await virtual.sleep_until(NOON + timedelta(seconds=131))
        held.append(worker.holds(key))
        beating.cancel()
        return held

    assert run_virtual(main, NOON) == [True, False, not given_up]


async def test_without_a_heartbeat_the_key_alone_decides() -> None:
    register = Register()
    worker = Worker(register, FrozenClock(VirtualClock(asyncio.get_running_loop(), NOON)))
    await worker.sign_in()
    assert worker.holds(1)
    assert not worker.holds(2)
