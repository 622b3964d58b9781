"""How PostgreSQL stores what is written most, and that being told so stops nobody."""

import asyncio

import pytest
from alembic import command
from sqlalchemy import text

from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import alembic_config

pytestmark = pytest.mark.shows("D1")
STEP, BEFORE = "0030", "0029"
OPTIONS = text("SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE relname = :name")
BEAT = text("UPDATE workers SET seen_at = seen_at + interval '1 second' WHERE id = 1")
IN_PLACE = text("SELECT pg_stat_get_xact_tuples_hot_updated('workers'::regclass)")


async def moved(database, step, *, up):
    """Take the step, or take it back, without waiting for anybody's lock."""
    move = command.upgrade if up else command.downgrade
    async with database.write() as connection:
        await connection.execute(text("SET LOCAL lock_timeout = '3s'"))
        await connection.run_sync(lambda sync: move(alembic_config(sync), step))


async def test_the_step_is_taken_while_jobs_are_written(migrated_postgres_url):
    database = open_database(migrated_postgres_url)
    try:
        await moved(database, BEFORE, up=False)
        async with database.write() as writing:
            await writing.execute(text("UPDATE pipeline_jobs SET attempts = 1"))
            await writing.execute(text("UPDATE workers SET pid = 1"))
            async with asyncio.timeout(20):
                await moved(database, STEP, up=True)
        async with database.read() as connection:
            jobs = str((await connection.execute(OPTIONS, {"name": "pipeline_jobs"})).scalar())
            assert "autovacuum_vacuum_scale_factor=0.02" in jobs
    finally:
        await database.close()


async def test_a_heartbeat_writes_no_index(migrated_postgres_url):
    database = open_database(migrated_postgres_url)
    try:
        async with database.write() as connection:
            rows = [{"id": number} for number in range(1, 60)]
            insert = "INSERT INTO workers (id, name, pid, started_at, seen_at) VALUES (:id, 'one', 1, now(), now())"
            await connection.execute(text(insert), rows)
            for _ in range(20):
                await connection.execute(BEAT)
            assert (await connection.execute(IN_PLACE)).scalar() == 20
    finally:
        await database.close()
