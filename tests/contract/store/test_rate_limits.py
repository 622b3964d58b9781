"""The booking that all processes share, on both databases: every request is on it, whoever sends it."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.pacing import Pace, departure_tolerance
from tidemill.store.ledger.rate_limits import RateLimitRepository
from tidemill.store.ledger.recheck import CurrentStateReader
from tidemill.store.schema import hosts

pytestmark = pytest.mark.shows("F6", "B10")

SECOND = timedelta(seconds=1)
POLITE = Pace(2 * SECOND)
HOST = "arnhem.test"


@pytest.fixture
def rate_limits(database):
    return RateLimitRepository(database)


async def test_two_processes_are_never_given_the_same_slot(rate_limits):
    first = await rate_limits.reserve(HOST, POLITE, NOON, None)
    second = await rate_limits.reserve(HOST, POLITE, NOON, None)
    assert first.at == NOON
    assert second.at >= NOON + 2 * SECOND
    assert (await rate_limits.reserve(HOST, POLITE, NOON, None)).at >= second.at + 2 * SECOND


async def test_a_process_that_was_the_last_to_ask_goes_by_its_own_spacing(rate_limits):
    first = await rate_limits.reserve(HOST, POLITE, NOON, None)
    later = NOON + 2 * SECOND
    assert (await rate_limits.reserve(HOST, POLITE, later, first.booked_until)).at == later


async def test_a_claim_waits_for_what_others_have_put_on_the_tab(mill, rate_limits):
    await mill.enqueue(await mill.source(pages=2, pace=POLITE))
    await rate_limits.reserve(HOST, POLITE, mill.clock.now(), None)
    worker = await mill.worker()
    assert await mill.claim(worker) == []
    mill.clock.advance(2 * SECOND + departure_tolerance(POLITE))
    assert len(await mill.claim(worker)) == 1


async def test_a_request_beside_a_claim_keeps_clear_of_the_claims_own(mill, rate_limits):
    await mill.enqueue(await mill.source(pages=2, pace=POLITE))
    (claimed,) = await mill.claim(await mill.worker())
    slot = await rate_limits.reserve(HOST, POLITE, mill.clock.now(), None)
    assert slot.at - mill.clock.now() == 2 * SECOND + departure_tolerance(claimed.pace)


async def test_the_hosts_own_pace_holds_for_whoever_asks_it(mill, rate_limits):
    await mill.source(pages=1, pace=Pace(10 * SECOND))
    assert await rate_limits.pace_of(HOST) == Pace(10 * SECOND)
    assert await rate_limits.pace_of("stranger.test") is None
    await rate_limits.reserve(HOST, Pace(SECOND), NOON, None)
    assert (await rate_limits.reserve(HOST, Pace(SECOND), NOON, None)).at >= NOON + 10 * SECOND


async def test_a_visitor_waits_for_the_jobs_at_work_and_new_ones_wait_for_the_visitor(mill, rate_limits):
    await mill.enqueue(await mill.source(pages=2))
    await mill.rows(hosts)
    async with mill.database.write() as connection:
        await connection.execute(hosts.update().values(parallel=1))
    worker = await mill.worker()
    (claimed,) = await mill.claim(worker)
    now = mill.clock.now()
    free = Pace(timedelta(0))
    assert await rate_limits.request_visit(HOST, free, now, 60 * SECOND)
    assert await rate_limits.admit_visitor(HOST, free, now) is None
    assert not await rate_limits.request_visit(HOST, free, now, 60 * SECOND)  # one visitor waits already
    await mill.carry(claimed)
    assert await mill.claim(worker) == []
    assert await rate_limits.admit_visitor(HOST, free, now) is not None
    await rate_limits.leave(HOST)
    assert len(await mill.claim(worker)) == 1


async def test_a_visitor_who_never_says_goodbye_is_forgotten(mill, rate_limits):
    await mill.enqueue(await mill.source(pages=1))
    async with mill.database.write() as connection:
        await connection.execute(hosts.update().values(parallel=1))
    assert await rate_limits.request_visit(HOST, Pace(timedelta(0)), mill.clock.now(), 60 * SECOND)
    worker = await mill.worker()
    assert await mill.claim(worker) == []
    mill.clock.advance(61 * SECOND)
    assert len(await mill.claim(worker)) == 1


async def test_how_things_stand_is_answered_anew_each_time_and_once_for_many(mill, database):
    key = await mill.source(pages=2)
    (one, two) = [each.target.id for each in await mill.agenda.of_source(key)]
    standings = CurrentStateReader(database)
    first = await standings.current(key, one)
    assert first is not None
    assert first.source.enabled
    async with database.write() as connection:
        await connection.exec_driver_sql("UPDATE scraper_sources SET enabled = false")
    again = await standings.current(key, two)
    assert again is not None
    assert not again.source.enabled
    assert await standings.current(key, 999) is None


async def test_requests_that_were_sent_already_keep_everybody_waiting(mill, rate_limits):
    await mill.enqueue(await mill.source(pages=2, pace=POLITE))
    await rate_limits.charge(HOST, POLITE, 5, mill.clock.now())
    worker = await mill.worker()
    mill.clock.advance(9 * SECOND)
    assert await mill.claim(worker) == []
    mill.clock.advance(SECOND)
    assert len(await mill.claim(worker)) == 1
    await rate_limits.charge("stranger.test", POLITE, 3, NOON)
    assert (await rate_limits.reserve("stranger.test", POLITE, NOON, None)).at >= NOON + 6 * SECOND


async def test_a_claim_keeps_clear_of_a_visitor_that_may_still_leave_late(mill, rate_limits):
    await mill.enqueue(await mill.source(pages=2, pace=POLITE))
    worker = await mill.worker()
    now = mill.clock.now()
    assert await rate_limits.request_visit(HOST, POLITE, now, 60 * SECOND)
    slot = await rate_limits.admit_visitor(HOST, POLITE, now)
    await rate_limits.leave(HOST)
    mill.clock.set(slot.at + 2 * SECOND)
    assert await mill.claim(worker) == []
    mill.clock.advance(departure_tolerance(POLITE))
    assert len(await mill.claim(worker)) == 1
