import asyncio
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import bindparam, text

from rig.clock import NOON
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.core.identity import signed_checksum
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.column_types import Timestamp
from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import (
    ChainStatus,
    MigrationChain,
    alembic_config,
    current,
    newest,
    plugin_status,
    require_current,
    upgrade,
)
from tidemill.store.schema import metadata

TEXT_SEARCH = re.compile(r"_text(?:_\w+)?$")
"""What finds words is made by a step alone: SQLAlchemy knows neither full-text tables nor trigrams."""

pytestmark = pytest.mark.shows("D1")


async def test_the_migrations_lead_to_the_schema(database):
    for name in PLUGINS:
        import_module(f"tidemill.verticals.{name}.store.tables")

    def is_ours(name, kind, _parents):
        return not (kind in {"table", "index"} and TEXT_SEARCH.search(name or ""))

    def differences(connection):
        opts = {"compare_type": False, "include_name": is_ours}
        context = MigrationContext.configure(connection, opts=opts)
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


MANY_EVENTS = text(
    "INSERT INTO events (id, source_id, identity, event_fingerprint, title, event_date, event_time, venue_name,"
    " category, status, checksum, record, page_id, first_seen_at, last_seen_at, updated_at)"
    " VALUES (:id, 7, :identity, '', :identity, :now, '', '', 'music', 'scheduled', 0, :record, 1, :now, :now, :now)"
).bindparams(bindparam("now", type_=Timestamp))
EVENTS = text("SELECT id, identity, identity_hash, times_seen FROM events ORDER BY id")


async def test_events_of_before_get_the_hash_by_which_they_are_found(database_url):
    database = open_database(database_url)
    rows: list[dict[str, Any]] = [
        {"id": key, "identity": f"https://a.nl/é/{key}", "now": NOON, "record": b"{}"} for key in range(1, 10_003)
    ]
    try:
        async with database.write() as connection:
            await connection.run_sync(lambda sync: command.upgrade(alembic_config(sync), "0008"))
            await connection.execute(MANY_EVENTS, rows)
        assert await upgrade(database) == ("0008", newest())
        async with database.read() as connection:
            found = (await connection.execute(EVENTS)).all()
    finally:
        await database.close()
    assert [tuple(row) for row in found] == [
        (row["id"], row["identity"], signed_checksum(row["identity"].encode()), 1) for row in rows
    ]


STEP = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{step}", {after!r}


def upgrade():
    op.create_table("{table}", sa.Column("id", sa.BigInteger(), primary_key=True))
"""


def chain(folder: Path, vertical: str, *tables: str) -> MigrationChain:
    """The migrations of a package: one table a step, the steps called as ours are."""
    (folder / vertical).mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables, 1):
        words = STEP.format(step=f"{number:04}", after=f"{number - 1:04}" if number > 1 else None, table=table)
        (folder / vertical / f"{number:04}_{table}.py").write_text(words)
    return MigrationChain(vertical, folder / vertical)


async def test_packages_bring_steps_of_their_own_which_may_be_called_as_ours_are(database_url, tmp_path):
    database = open_database(database_url)
    chains = [chain(tmp_path / "50% off", "books", "books", "covers"), chain(tmp_path, "films", "films")]
    try:
        assert await upgrade(database, chains) == (None, newest())
        await require_current(database, chains)
        assert await plugin_status(database, chains) == [
            ChainStatus("books", "0002", "0002"), ChainStatus("films", "0001", "0001"),
        ]  # fmt: skip
        assert await current(database) == newest()
    finally:
        await database.close()


async def test_every_installed_package_must_have_its_tables(database_url, tmp_path):
    database = open_database(database_url)
    try:
        await upgrade(database)
        books = [chain(tmp_path, "books", "books")]
        with pytest.raises(StoreError, match=r"'books' stands at nothing, this version needs 0001; run `tidemill mig"):
            await require_current(database, books)
        await upgrade(database, books)
        more = [chain(tmp_path, "books", "books", "covers")]
        with pytest.raises(StoreError, match="stands at 0001, this version needs 0002"):
            await require_current(database, more)
        assert await upgrade(database, more) == (newest(), newest())
        await require_current(database, more)
    finally:
        await database.close()


async def test_the_tables_of_a_package_that_is_gone_stay_and_stop_nobody(database_url, tmp_path):
    database = open_database(database_url)
    books, films = chain(tmp_path, "books", "books"), chain(tmp_path, "films", "films")
    try:
        await upgrade(database, [books])
        assert await upgrade(database, [films]) == (newest(), newest())
        await require_current(database, [films])
        assert await plugin_status(database, [films]) == [
            ChainStatus("books", "0001", None), ChainStatus("films", "0001", "0001"),
        ]  # fmt: skip
        async with database.read() as connection:
            assert (await connection.execute(text("SELECT count(*) FROM books"))).scalar_one() == 0
    finally:
        await database.close()


async def test_a_package_whose_steps_fail_is_named_and_costs_no_other_its_tables(database_url, tmp_path):
    database = open_database(database_url)
    books, broken = chain(tmp_path, "books", "books"), chain(tmp_path, "broken", "books")
    try:
        with pytest.raises(StoreError, match="the tables of the vertical 'broken' cannot be made"):
            await upgrade(database, [books, broken])
        await require_current(database, [books])
    finally:
        await database.close()
