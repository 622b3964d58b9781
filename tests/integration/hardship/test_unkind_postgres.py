"""A PostgreSQL that has no connection to spare, undoes our transactions, or keeps a table to somebody else."""

import asyncio
import os
from contextlib import asynccontextmanager

import asyncpg
import pytest
from sqlalchemy.engine import make_url

from rig.engines import a_cluster, until
from rig.works import the_works
from tidemill.store.schema import dead_letters, jobs, runs, workers
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("N4", "D2")

ROLE = f"narrow_{os.getpid()}"
MAKE_ROLE = f"""DO $$ BEGIN CREATE ROLE {ROLE} LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"""
END_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND datname = current_database()"
"""Limits of connections bind nobody who is a superuser, as the tests' own user is."""


@pytest.fixture
async def works(migrated_postgres_url):
    async with the_works(migrated_postgres_url) as view:
        await view.say(MAKE_ROLE)
        for kind in ("TABLES", "SEQUENCES"):
            await view.say(f"GRANT ALL ON ALL {kind} IN SCHEMA public TO {ROLE}")
        yield view
        await view.say(f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")


@pytest.fixture
async def cluster(nursery, works, tmp_path):
    url = make_url(works.url).set(username=ROLE).render_as_string(hide_password=False)
    async with a_cluster(nursery, tmp_path, database=url, look_again_seconds=1, lanes=["http"]) as made:
        yield made


@asynccontextmanager
async def somebody(works):
    connection = await asyncpg.connect(works.url.replace("+asyncpg", ""))
    try:
        yield connection
    finally:
        await connection.close()


async def all_done_once(works):
    await until(lambda: are_done(works), "every job is done")
    assert (await works.count(events), await works.count(dead_letters)) == (18, 0)
    assert {row["times_seen"] for row in await works.rows(events)} == {1}


async def test_connections_that_are_used_up_are_waited_for(cluster, works, site):
    gate = site.hold("/agenda/3")
    await works.enqueue(await works.source(site))
    worker = await cluster.start("up", "--no-web")
    await gate.arrived.wait()
    await works.say(f"ALTER ROLE {ROLE} CONNECTION LIMIT 0")
    async with somebody(works) as person:
        await person.fetch(END_ALL, ROLE)
        gate.opened.set()
        await worker.until("print", lambda said: "no connection to spare" in said["line"])
    assert await works.count(jobs, status="done") < 6
    await works.say(f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")
    await all_done_once(works)
    assert await works.count(workers) == 1


DEADLY = """DO $$ BEGIN
    PERFORM 1 FROM scrape_runs FOR UPDATE;
    PERFORM 1 FROM scrape_targets FOR UPDATE;
    PERFORM 1 FROM hosts FOR UPDATE;
    PERFORM pg_sleep(0.02);
    PERFORM 1 FROM pipeline_jobs ORDER BY id DESC FOR UPDATE;
END $$"""
"""Takes rows in another order than we do, again and again, and waits longer than we: it is we who must give way."""


async def test_deadlocks_with_another_program_cost_time_and_nothing_else(cluster, works, site):
    source = await works.source(site)
    await cluster.start("up", "--no-web")
    stopping = asyncio.Event()

    async def quarrel():
        async with somebody(works) as person:
            await person.execute("SET deadlock_timeout = '30s'")
            while not stopping.is_set():
                await person.execute(DEADLY)
                await person.execute("SELECT pg_sleep(0.05)")

    quarrelling = asyncio.create_task(quarrel())
    try:
        while not await undone(works):
            await works.enqueue(source)
            await until(lambda: are_done(works), "every job is done")
    finally:
        stopping.set()
        await quarrelling
    assert await works.count(dead_letters) == 0
    assert await works.count(events) == 18
    assert {row["times_seen"] for row in await works.rows(events)} == {await works.count(runs)}


async def are_done(works):
    return {row["status"] for row in await works.rows(jobs)} == {"done"}


async def undone(works):
    async with somebody(works) as person:
        return await person.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") > 0


async def test_a_table_that_somebody_else_keeps_is_waited_for(cluster, works, site):
    gate = site.hold("/agenda/3")
    await works.enqueue(await works.source(site))
    await cluster.start("up", "--no-web")
    await gate.arrived.wait()
    async with somebody(works) as person, person.transaction():
        await person.execute("LOCK TABLE pipeline_jobs, raw_pages, hosts IN ACCESS EXCLUSIVE MODE")
        gate.opened.set()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'"

        async def somebody_waits():
            return await person.fetchval(waiting, ROLE) > 0

        await until(somebody_waits, "the worker waits for the lock")
    await all_done_once(works)
    assert await works.count(workers) == 1
