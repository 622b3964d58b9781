import asyncio

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from tidemill.pipeline.ports import StoreError
from tidemill.store.database import open_database
from tidemill.store.migrate import current, newest, require_current, upgrade
from tidemill.store.schema import metadata


async def test_the_migrations_lead_to_the_schema(database):
    def differences(connection):
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        return compare_metadata(context, metadata)

    async with database.read() as connection:
        assert await connection.run_sync(differences) == []


async def test_an_empty_database_is_brought_to_the_present_and_twice_is_once(database_url):
    database = open_database(database_url)
    try:
        assert await current(database) is None
        assert await upgrade(database) == (None, newest())
        assert await upgrade(database) == (newest(), newest())
        await require_current(database)
    finally:
        await database.close()


async def test_tables_of_another_version_are_refused_with_the_command_that_helps(database_url):
    database = open_database(database_url)
    try:
        with pytest.raises(StoreError, match="tidemill migrate"):
            await require_current(database)
    finally:
        await database.close()


async def test_two_processes_that_migrate_at_once_do_not_collide(database_url):
    one, two = open_database(database_url), open_database(database_url)
    try:
        await asyncio.gather(upgrade(one), upgrade(two))
        assert await current(one) == await current(two) == newest()
    finally:
        await one.close()
        await two.close()


LZ4 = text("SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")
PACKED_WITH_LZ4 = text(
    "SELECT attrelid::regclass::text, attname FROM pg_attribute WHERE attcompression = 'l' AND attnum > 0 ORDER BY 1"
)


async def test_postgresql_packs_pages_and_readings_with_lz4_where_it_can(migrated_postgres_url):
    database = open_database(migrated_postgres_url)
    async with database.read() as connection:
        can = (await connection.execute(LZ4)).scalar_one_or_none()
        packed = [tuple(row) for row in await connection.execute(PACKED_WITH_LZ4)]
    await database.close()
    wanted = [("page_bodies", "body"), ("raw_records", "found"), ("staged_records", "staged")]
    assert packed == (wanted if can else [])
