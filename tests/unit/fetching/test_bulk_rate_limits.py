"""Slots bought together: fewer transactions, the same spacing, and room for others."""

from datetime import timedelta
from itertools import pairwise

import pytest

from rig.clock import NOON, SettableClock
from tidemill.core.pacing import Departure, Pace, departures
from tidemill.fetching.bulk_rate_limits import BulkRateLimits
from tidemill.fetching.not_sent import NotSent
from tidemill.pipeline.live_ports import SlotBatch
from tidemill.pipeline.ports import StoreLost

PACE = Pace(timedelta(seconds=0.25), 1, 1)
SECOND = timedelta(seconds=1)


class Booking:
    """A host's booking as the ledger keeps it, with a count of its transactions."""

    def __init__(self):
        self.booked = None
        self.bought = []
        self.returned = []
        self.others_wait = False
        self.rests_until = None
        self.is_away = False

    async def reserve_many(self, host, pace, count, within, now, mine):
        del host
        if self.is_away:
            raise StoreLost
        if self.rests_until is not None:
            return SlotBatch(rests_until=self.rests_until)
        slots = departures(pace, self.booked, now, mine, count, within)
        self.booked = slots[-1].booked_until
        self.bought.append(len(slots))
        return SlotBatch(slots, self.others_wait)

    async def give_back(self, host, pace, unused, booked_until):
        del host
        if booked_until != self.booked:
            return False
        self.booked -= pace.interval * unused
        self.returned.append(unused)
        return True

    async def reserve(self, host, pace, now, mine):
        return (await self.reserve_many(host, pace, 1, SECOND, now, mine)).departures[0]


@pytest.fixture
def booking():
    return Booking()


@pytest.fixture
def clock():
    return SettableClock()


@pytest.fixture
def limits(booking, clock):
    return BulkRateLimits(booking, clock)


async def depart(limits, clock, count):
    """Send so many requests, each at the moment it may leave."""
    left = []
    for _ in range(count):
        slot = await limits.reserve("a.test", PACE, clock.now(), None)
        clock.set(max(clock.now(), slot.at))
        left.append(slot.at)
    return left


async def test_a_second_of_requests_costs_one_transaction_and_keeps_the_spacing(limits, booking, clock):
    limits.want("a.test", 40)
    left = await depart(limits, clock, 20)
    gaps = [later - earlier for earlier, later in pairwise(left)]
    assert min(gaps) >= PACE.interval
    assert booking.bought == [5, 5, 5, 5]


async def test_without_a_wish_each_request_is_booked_by_itself(limits, booking, clock):
    await depart(limits, clock, 3)
    assert booking.bought == [1, 1, 1]


async def test_what_nobody_wants_any_more_is_returned_once(limits, booking, clock):
    limits.want("a.test", 5)
    await depart(limits, clock, 1)
    limits.want("a.test", 0)
    assert await limits.give_back_unused() == 4
    assert await limits.give_back_unused() == 0
    assert booking.booked == NOON + PACE.interval
    assert booking.returned == [4]


async def test_others_who_wait_find_the_host_free_after_nine_requests(limits, booking, clock):
    booking.others_wait = True
    limits.want("a.test", 40)
    left = await depart(limits, clock, 30)
    gaps = [later - earlier for earlier, later in pairwise(left)]
    assert sum(gap > 1.4 * PACE.interval for gap in gaps) >= 2


async def test_a_host_that_rests_holds_requests_back_until_then(limits, booking, clock):
    booking.rests_until = NOON + timedelta(minutes=2)
    limits.want("a.test", 5)
    with pytest.raises(NotSent) as held:
        await limits.reserve("a.test", PACE, clock.now(), None)
    assert held.value.until == booking.rests_until


async def test_while_the_ledger_is_away_each_process_goes_on_at_its_share(limits, booking, clock):
    limits.want("a.test", 40)
    limits.sharers = 3
    booking.is_away = True
    left = await depart(limits, clock, 5)
    assert {later - earlier for earlier, later in pairwise(left)} == {3 * PACE.interval}


async def test_who_does_not_poll_is_refused_while_the_ledger_is_away(limits, booking, clock):
    limits.want("a.test", 0)
    booking.is_away = True
    with pytest.raises(StoreLost):
        await limits.reserve("a.test", PACE, clock.now(), None)


def test_departures_follow_each_other_within_a_while():
    slots = departures(Pace(SECOND, 3, 3), None, NOON, None, 10, 2 * SECOND)
    assert [slot.at - NOON for slot in slots] == [timedelta(0)] * 3 + [SECOND, 2 * SECOND]
    assert slots[-1] == Departure(NOON + 2 * SECOND, NOON + 5 * SECOND)
