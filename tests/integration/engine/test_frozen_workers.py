"""A worker that freezes, and wakes up after its lease: it writes nothing, and begins anew."""

import asyncio
import signal
import sqlite3
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from rig.engines import until
from rig.site import agenda
from rig.works import stages_done, the_works
from tidemill.pipeline.ports import StoreBusy
from tidemill.store.ledger.workers import Workers
from tidemill.store.schema import jobs, pages, runs, workers
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("B1")

SHORT_LEASE = {"lease_seconds": 3, "ticks": {"rescue": "every 1s", "dispatch": "every 1s"}}


async def test_a_frozen_worker_writes_nothing_when_it_wakes_and_goes_on_under_a_new_key(nursery, site, works):
    await works.source(site)  # new targets are due at once
    gate = site.hold("/agenda/5")
    orders = {"settings": {"database": works.url, **SHORT_LEASE}}
    async with nursery.child("supervise", **orders) as sleeper:
        await gate.arrived.wait()
        await freeze(sleeper, works)
        async with nursery.child("supervise", **orders) as heir:
            await heir.until("JobsRescued")
            await heir.until("RunClosed")
            gate.opened.set()  # the sleeper finds this answer when it wakes
            heir.signal(signal.SIGTERM)
            assert await heir.ended() == 0
        site.page("/agenda/5", agenda(["Concert 5-0", "Concert 5-1", "Concert 5-2", "Encore"]))
        before = await everything(works)
        sleeper.signal(signal.SIGCONT)
        await sleeper.until("LeaseLost", lambda said: said["stage"] == "fetch")
        assert await everything(works) == before

        await works.make_due()
        await sleeper.until("RunClosed")
        sleeper.signal(signal.SIGTERM)
        assert await sleeper.ended() == 0
    assert (await works.count(runs), await works.count(jobs), await works.count(pages)) == (2, 12, 12)
    assert await works.count(events, title="Encore") == 1
    assert set(stages_done(sleeper.said, heir.said).values()) == {1}
    keys = [row["id"] for row in await works.rows(workers, pid=sleeper.pid)]
    assert len(keys) == 2
    assert {row["leased_by"] for row in await works.rows(jobs)} == {None}


async def test_a_worker_frozen_inside_a_transaction_loses_it_and_holds_up_no_rescue(site, migrated_postgres_url):
    async with the_works(migrated_postgres_url) as works:
        await works.enqueue(await works.source(site))
        store, now = works.system.store, works.system.clock.now()
        assert await answer(store.database, "SHOW idle_in_transaction_session_timeout") == "15s"
        await works.system.worker.sign_in()
        await store.ledger.claim("http", 6, works.system.worker.key(), now)
        async with store.database.engine.connect() as frozen:
            await frozen.execute(text("SET idle_in_transaction_session_timeout = '100ms'"))
            await frozen.execute(text("SELECT id FROM pipeline_jobs FOR UPDATE"))
            (rescued,) = await store.workers.rescue(now + timedelta(hours=1))
            assert rescued.jobs == 6
            with pytest.raises(DBAPIError, match=r"idle-in-transaction timeout|connection is closed"):
                await frozen.execute(text("SELECT 1"))


async def test_a_worker_frozen_in_the_middle_of_a_statement_loses_its_transaction(site, migrated_postgres_url):
    async with the_works(migrated_postgres_url) as works:
        await works.enqueue(await works.source(site))
        store, later = works.system.store, works.system.clock.now() + timedelta(hours=1)
        await works.system.worker.sign_in()
        await store.ledger.claim("http", 6, works.system.worker.key(), works.system.clock.now())
        limits = {"lease": store.workers.lease, "job_limit": timedelta(minutes=30)}
        async with store.database.engine.connect() as frozen:
            await frozen.execute(text("SELECT id FROM pipeline_jobs FOR UPDATE"))
            driver = (await frozen.get_raw_connection()).driver_connection
            half = asyncio.create_task(driver.copy_to_table("page_bodies", source=never_sent()))
            await until(lambda: is_half_sent(store.database), "PostgreSQL waits for the rest of the statement")
            with pytest.raises(StoreBusy):
                await Workers(store.database, store.ids, **limits).rescue(later)
            (rescued,) = await Workers(store.database, store.ids, **limits, stalled_after=timedelta(0)).rescue(later)
            assert rescued.jobs == 6
            half.cancel()
            await asyncio.wait((half,))
            await frozen.invalidate()


async def never_sent():
    await asyncio.Event().wait()
    yield b""


async def is_half_sent(database):
    question = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    return bool(await answer(database, f"{question} AND query LIKE 'COPY%' AND wait_event = 'ClientRead'"))


async def answer(database, question):
    async with database.read() as connection:
        return (await connection.execute(text(question))).scalar()


async def freeze(child, works):
    """Stop a process outside of any transaction: one that freezes inside keeps its locks until it wakes."""
    child.signal(signal.SIGSTOP)
    while await is_inside_a_transaction(works.system.store.database):
        child.signal(signal.SIGCONT)
        child.signal(signal.SIGSTOP)


async def is_inside_a_transaction(database):
    """Whether somebody else is; on SQLite only those who write count."""
    if database.is_sqlite:
        return is_locked(database.engine.url.database)
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    async with database.read() as connection:
        return bool((await connection.execute(text(f"{others} AND xact_start IS NOT NULL"))).scalar())


def is_locked(file):
    """Whether somebody holds SQLite's lock."""
    connection = sqlite3.connect(file, timeout=0, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return True
    else:
        return False
    finally:
        connection.close()


async def everything(works):
    """All that a worker could have written for a job."""
    return [[dict(row) for row in await works.rows(table)] for table in (jobs, pages, events, runs)]
