"""Claims: who gets which job when, the same on SQLite and on PostgreSQL."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail, Snooze
from tidemill.core.pacing import Pace
from tidemill.core.policy import AGENDA
from tidemill.pipeline.checkpoints import Fetched
from tidemill.store.ledger.claims import CONTESTED, open_hosts
from tidemill.store.ledger.overbooked import OverbookedHosts
from tidemill.store.schema import (
    hosts,
    targets,
)

SECOND = timedelta(seconds=1)
POLITE = Pace()


async def test_a_claimed_job_is_nobody_elses(mill):
    await mill.enqueue(await mill.source(pages=4))
    one, two = await mill.worker("one"), await mill.worker("two")
    first = await mill.claim(one, 3)
    second = await mill.claim(two, 3)
    assert len(first) == 3
    assert len(second) == 1
    assert not {each.job.id for each in first} & {each.job.id for each in second}


@pytest.mark.shows("O3")
async def test_a_host_that_was_asked_must_wait_and_holds_nobody_up(mill):
    await mill.enqueue(await mill.source("slow", pages=5, pace=POLITE))
    await mill.enqueue(await mill.source("fast", pages=5))
    worker = await mill.worker()
    taken = await mill.claim(worker, 6)
    asked = [each.job.host for each in taken]
    assert asked.count("slow.test") == 1
    assert asked.count("fast.test") == 5


async def test_the_next_moment_is_when_the_slow_host_opens(mill):
    await mill.enqueue(await mill.source("slow", pages=5, pace=POLITE))
    worker = await mill.worker()
    (first,) = await mill.claim(worker)
    assert await mill.claim(worker) == []
    assert await mill.ledger.next_moment(mill.clock.now()) == NOON + 2 * SECOND
    answer = mill.fetched(first)
    mill.clock.advance(2 * SECOND)
    assert await mill.claim(worker) == []  # one at a time: the first is still under way
    await mill.commit((first, answer))
    assert [each.job.host for each in await mill.claim(worker)] == ["slow.test"]


async def test_a_host_that_another_claim_was_looking_at_is_worth_a_look_very_soon(mill):
    if mill.database.is_sqlite:
        pytest.skip("on SQLite claims run one after the other")
    await mill.enqueue(await mill.source(pages=2))
    worker = await mill.worker()
    async with mill.database.write() as elsewhere:
        await elsewhere.execute(hosts.select().with_for_update())
        assert await mill.claim(worker) == []
        assert await mill.ledger.next_moment(NOON) == NOON + CONTESTED
        assert await mill.ledger.next_moment(NOON, "browser") is None
    assert len(await mill.claim(worker)) == 2
    assert await mill.ledger.next_moment(NOON) is None


async def test_a_lane_locks_no_host_that_has_nothing_for_it(mill):
    await mill.enqueue(await mill.source(pages=2))
    assert await mill.ledger.claim("browser", 10, await mill.worker(), NOON) == []
    async with mill.database.write() as connection:
        assert await open_hosts(connection, "browser", 10, NOON) == []
        assert [share.host for share in await open_hosts(connection, "http", 10, NOON)] == ["arnhem.test"]


@pytest.mark.shows("O3")
async def test_jobs_go_by_priority_then_by_age(mill):
    key = await mill.source(pages=3)
    async with mill.database.write() as connection:
        every = (await connection.execute(targets.select().order_by(targets.c.id))).mappings().all()
        await connection.execute(targets.update().where(targets.c.id == every[2]["id"]).values(priority=50))
    await mill.enqueue(key)
    taken = await mill.claim(await mill.worker())
    assert [each.target.url[-1] for each in taken] == ["2", "0", "1"]


@pytest.mark.shows("O3")
async def test_a_snooze_spends_no_attempt_and_comes_back_when_it_said(mill):
    await mill.enqueue(await mill.source())
    worker = await mill.worker()
    (claimed,) = await mill.claim(worker)
    await mill.commit((claimed, Snooze(NOON + 90 * SECOND, "not now")))
    assert await mill.claim(worker) == []
    assert await mill.ledger.next_moment(mill.clock.now()) == NOON + 90 * SECOND
    mill.clock.advance(90 * SECOND)
    (again,) = await mill.claim(worker)
    assert (again.job.attempts, again.job.fence > claimed.job.fence) == (0, True)


@pytest.mark.shows("F3")
async def test_a_retry_after_closes_the_host_for_as_long(mill):
    key = await mill.source(pages=2, pace=POLITE)
    await mill.enqueue(key)
    worker = await mill.worker()
    (claimed,) = await mill.claim(worker)
    fetched = mill.fetched(claimed).produced
    limited = type(fetched.result)(
        status="blocked", url=claimed.job.url, status_code=429, requested_at=NOON, retry_after=timedelta(minutes=5)
    )  # fmt: skip
    evidence = Fetched(fetched.page, limited)
    await mill.commit((claimed, Fail(Failure.RATE_LIMITED, "429", timedelta(minutes=5), evidence=evidence)))
    mill.clock.advance(timedelta(minutes=4))
    assert await mill.claim(worker) == []
    mill.clock.advance(timedelta(minutes=1))
    assert len(await mill.claim(worker)) == 1


async def test_jobs_of_a_removed_target_are_refused_and_do_not_stop_the_others(mill):
    await mill.enqueue(await mill.source(pages=2))
    async with mill.database.write() as connection:
        first = (await connection.execute(targets.select().order_by(targets.c.id).limit(1))).mappings().one()
        await connection.execute(targets.delete().where(targets.c.id == first["id"]))
    claimed = await mill.claim(await mill.worker())
    assert len(claimed) == 1
    assert await mill.scalar("SELECT count(*) FROM pipeline_jobs WHERE status = 'refused'") == 1
    assert await mill.scalar("SELECT open_jobs FROM scrape_runs") == 1


@pytest.mark.shows("O3")
async def test_of_equal_jobs_each_hosts_first_goes_before_anyones_second(mill):
    for name in ("one", "two", "three"):
        await mill.enqueue(await mill.source(name, pages=5))
    taken = await mill.claim(await mill.worker(), 6)
    assert sorted(each.job.host for each in taken[:3]) == ["one.test", "three.test", "two.test"]
    assert sorted(each.job.host for each in taken[3:]) == ["one.test", "three.test", "two.test"]


async def test_a_host_with_more_targets_than_its_pace_allows_is_in_debt(mill):
    await mill.source("roomy", pages=3, pace=POLITE)
    await mill.source("crowded", pages=3, pace=Pace(timedelta(hours=10)))
    overbooked_hosts = OverbookedHosts(mill.database, {"events": AGENDA})
    ((host, words),) = await overbooked_hosts.overbooked()
    assert host == "crowded.test"
    assert "3 targets at one per 10:00:00 take 6:00:00 longer than their cycle" in words
