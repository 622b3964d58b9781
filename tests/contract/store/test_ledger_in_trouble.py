"""What the simulation found, as promises of the ledger on both databases."""

import asyncio
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail, Snooze
from tidemill.core.pacing import Pace
from tidemill.engine.drain import yield_to_loop
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.stale_jobs import StaleJobs
from tidemill.store.ledger.sweeps import Sweeps
from tidemill.store.schema import dead_letters, jobs, runs, targets

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


async def fail_for_good(mill, worker):
    (claimed,) = await mill.claim(worker, 1)
    await mill.commit((claimed, Fail(Failure.LAYOUT_CHANGED, "it broke")))


async def retried_after_a_day(mill, worker):
    """A job that died a day ago and has just been put back into the queue."""
    await mill.enqueue(await mill.source())
    await fail_for_good(mill, worker)
    mill.clock.advance(DAY + HOUR)
    assert [
        run.jobs for run in await mill.letters.retry(await mill.letters.due(mill.clock.now()), mill.clock.now())
    ] == [1]


async def test_a_job_can_be_claimed_again_after_a_try_that_failed(mill):
    await mill.enqueue(await mill.source())
    worker = await mill.worker()
    (first,) = await mill.claim(worker)
    await mill.commit((first, Fail(Failure.TIMED_OUT, "no answer")))
    began = (await mill.rows(jobs))[0]["started_at"]
    mill.clock.advance(HOUR)
    (again,) = await mill.claim(worker)
    assert again.job.id == first.job.id
    assert (await mill.rows(jobs))[0]["started_at"] == began


@pytest.mark.shows("S4")
async def test_a_broken_target_that_answers_is_on_its_own_schedule_at_once(mill):
    key = await mill.source()
    worker = await mill.worker()
    for _ in range(5):
        await mill.enqueue(key)
        await fail_for_good(mill, worker)
        mill.clock.advance(HOUR)
    await mill.make_due(mill.clock.now())
    await mill.dispatcher.dispatch()
    assert (await mill.rows(targets))[0]["next_due_at"] == mill.clock.now() + timedelta(days=7)
    (claimed,) = await mill.claim(worker)
    await mill.carry(claimed)
    (target,) = await mill.rows(targets)
    assert (target["status"], target["next_due_at"]) == ("ACTIVE", mill.clock.now())


async def test_a_target_that_broke_while_a_job_was_in_hand_is_on_its_own_schedule_when_the_job_goes_well(mill):
    key = await mill.source()
    worker = await mill.worker()
    for _ in range(4):
        await mill.enqueue(key)
        await fail_for_good(mill, worker)
        mill.clock.advance(HOUR)
    await mill.enqueue(key)
    (in_hand,) = await mill.claim(worker)
    broke = {"status": "BROKEN", "consecutive_failures": 5, "next_due_at": mill.clock.now() + timedelta(days=7)}
    async with mill.database.write() as connection:
        await connection.execute(update(targets).values(**broke))  # as the retry of an earlier letter does
    await mill.carry(in_hand)
    (target,) = await mill.rows(targets)
    assert (target["status"], target["next_due_at"]) == ("ACTIVE", mill.clock.now())


async def test_a_retry_is_as_old_as_the_retry_not_as_its_first_try(mill):
    await retried_after_a_day(mill, await mill.worker())
    assert await mill.sweeps.stale(DAY, mill.clock.now()) == {}
    mill.clock.advance(DAY + HOUR)
    assert sum((await mill.sweeps.stale(DAY, mill.clock.now())).values()) == 1


async def test_the_letter_of_a_retry_that_went_stale_is_pending_again_with_a_longer_wait(mill):
    await retried_after_a_day(mill, await mill.worker())
    mill.clock.advance(DAY + HOUR)
    await mill.sweeps.stale(DAY, mill.clock.now())
    (letter,) = await mill.rows(dead_letters)
    assert (letter["status"], letter["retry_count"]) == ("pending", 1)
    assert letter["next_retry_at"] == mill.clock.now() + 2 * HOUR


async def test_a_stale_retry_that_a_person_requeues_takes_its_letter_along(mill):
    worker = await mill.worker()
    await retried_after_a_day(mill, worker)
    mill.clock.advance(DAY + HOUR)
    await mill.sweeps.stale(DAY, mill.clock.now())
    (opened,) = await StaleJobs(mill.database, Ids(mill.database)).requeue(None, mill.clock.now())
    assert opened.jobs == 1
    (letter,) = await mill.rows(dead_letters)
    assert letter["status"] == "retrying"
    (claimed,) = await mill.claim(worker)
    await mill.carry(claimed)
    (letter,) = await mill.rows(dead_letters)
    assert letter["status"] == "resolved"


@pytest.mark.shows("O3")
async def test_any_number_of_busy_hosts_keeps_no_other_host_waiting(mill):
    worker = await mill.worker()
    for number in range(100):
        await mill.enqueue(await mill.source(f"slow{number}", pages=2, pace=Pace(timedelta(seconds=2))))
    assert len(await mill.claim(worker, 500)) == 100
    mill.clock.advance(HOUR)
    await mill.enqueue(await mill.source("late"))
    assert [each.job.host for each in await mill.claim(worker, 10)] == ["late.test"]


async def test_a_host_that_need_not_be_asked_rests_with_all_its_jobs(mill):
    await mill.enqueue(await mill.source("shut", pages=3))
    worker = await mill.worker()
    (first,) = await mill.claim(worker, 1)
    await mill.enqueue(await mill.source("open"))
    until = mill.clock.now() + HOUR
    await mill.commit((first, Snooze(until, "robots.txt answered 503", whole_host=True)))
    assert [each.job.host for each in await mill.claim(worker)] == ["open.test"]
    mill.clock.set(until)
    assert [each.job.host for each in await mill.claim(worker)] == ["shut.test"] * 3


async def test_the_jobs_of_a_removed_target_count_as_attempted(mill):
    await mill.enqueue(await mill.source(pages=2))
    async with mill.database.write() as connection:
        first = (await connection.execute(targets.select().order_by(targets.c.id).limit(1))).mappings().one()
        await connection.execute(targets.delete().where(targets.c.id == first["id"]))
    await mill.claim(await mill.worker())
    (run,) = await mill.rows(runs)
    assert (run["urls_attempted"], run["urls_refused"], run["open_jobs"]) == (1, 1, 1)


async def test_tidying_up_needs_no_quiet_moment(mill):
    await mill.enqueue(await mill.source())
    async with mill.database.write() as connection:
        await connection.execute(update(targets).values(priority=7))
        tidying = asyncio.create_task(mill.sweeps.vacuum())
        await yield_to_loop()
    await tidying
    assert [row["priority"] for row in await mill.rows(targets)] == [7]
    assert not mill.database.is_sqlite or log_of(mill.database).stat().st_size == 0
    assert len(await mill.claim(await mill.worker())) == 1


async def test_tidying_up_waits_for_another_program(sqlite_database):
    other = sqlite3.connect(sqlite_database.engine.url.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    tidying = asyncio.create_task(Sweeps(sqlite_database).vacuum())
    await yield_to_loop()
    other.execute("INSERT INTO engine_state (name, value, updated_at) VALUES ('a', '{}', 0)")
    other.execute("COMMIT")
    await tidying
    other.close()
    assert log_of(sqlite_database).stat().st_size == 0


def log_of(database):
    return Path(f"{database.engine.url.database}-wal")
