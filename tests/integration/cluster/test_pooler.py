"""The whole work through a pooler that lends a server's connection for one transaction at a time."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from rig.pgbouncer import a_pooler, find_pgbouncer
from rig.works import the_works
from tidemill.store.schema import jobs
from tidemill.verticals.events.store.tables import events

HELD = text("SELECT count(*) FROM pg_prepared_statements")


@pytest.fixture
def pooled_url(postgres, migrated_postgres_url, tmp_path, do_without):
    program = find_pgbouncer() or do_without("no PgBouncer here: install pgbouncer")
    with a_pooler(program, postgres.port, tmp_path) as port:
        yield make_url(migrated_postgres_url).set(port=port).render_as_string(hide_password=False)


@pytest.mark.shows("D2")
async def test_two_processes_work_through_a_pooler_and_prepare_nothing_that_stays(pooled_url, site):
    options: dict[str, Any] = {"database_pooler": True, "database_connections": 6}
    async with the_works(pooled_url, **options) as one, the_works(pooled_url, **options) as two:
        await one.enqueue(await one.source(site))
        for works in (one, two):
            await works.system.worker.sign_in()
        await asyncio.gather(*(works.system.make_drain().run("http") for works in (one, two)))
        assert {row["status"] for row in await one.rows(jobs)} == {"done"}
        assert await one.count(events) == 18
        for _ in range(4):  # every connection of the pooler is met
            async with one.system.store.database.read() as connection:
                assert (await connection.execute(HELD)).scalar() == 0
