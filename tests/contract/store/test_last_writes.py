"""What is put off until the commit arrives with it, all of it or none, on both databases."""

from typing import Any

import pytest
from sqlalchemy import bindparam, event, select, text, update

from rig.clock import NOON
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.bulk import write_at_commit
from tidemill.store.database.database import Database, open_database
from tidemill.store.schema import hosts, tick_slots

HOSTS, SLOTS = hosts.insert(), tick_slots.insert()
PACE = (
    update(hosts)
    .where(hosts.c.host == bindparam("b_host", type_=hosts.c.host.type))
    .values(interval_ms=bindparam("b_pace", type_=hosts.c.interval_ms.type))
)


def host(name: str, pace: int = 1_000) -> dict[str, Any]:
    return {"host": name, "interval_ms": pace, "burst": 1, "parallel": 2, "opens_at": NOON, "has_work": False}


def slot(name: str) -> dict[str, Any]:
    return {"name": name, "slot": NOON, "worker_id": 1, "started_at": NOON}


async def paces(database: Database) -> dict[str, int]:
    async with database.read() as connection:
        rows = await connection.execute(select(hosts.c.host, hosts.c.interval_ms))
        return {row.host: row.interval_ms for row in rows}


async def slots(database: Database) -> list[str]:
    async with database.read() as connection:
        return list((await connection.execute(select(tick_slots.c.name).order_by(tick_slots.c.name))).scalars())


async def test_writes_to_several_tables_all_arrive(database: Database) -> None:
    async with database.write() as connection:
        await write_at_commit(connection, HOSTS, [host("a.test"), host("b.test", 2_000)])
        await write_at_commit(connection, SLOTS, [slot("rescue")])
    assert await paces(database) == {"a.test": 1_000, "b.test": 2_000}
    assert await slots(database) == ["rescue"]


async def test_a_table_that_is_written_to_twice_is_so_in_order(database: Database) -> None:
    async with database.write() as connection:
        await write_at_commit(connection, HOSTS, [host("a.test"), host("b.test")])
        await write_at_commit(connection, SLOTS, [slot("rescue")])
        await write_at_commit(connection, PACE, [{"b_host": "a.test", "b_pace": 2_000}])
        await write_at_commit(connection, PACE, [{"b_host": "a.test", "b_pace": 3_000}])
    assert await paces(database) == {"a.test": 3_000, "b.test": 1_000}


async def fail_after_writing(database: Database) -> None:
    async with database.write() as connection:
        await write_at_commit(connection, HOSTS, [host("a.test")])
        raise ZeroDivisionError


async def test_what_is_undone_is_never_sent(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        await fail_after_writing(database)
    async with database.write() as connection:
        await write_at_commit(connection, SLOTS, [slot("rescue")])
    assert await paces(database) == {}


async def write_one_twice(database: Database) -> None:
    async with database.write() as connection:
        await write_at_commit(connection, SLOTS, [slot("rescue")])
        await write_at_commit(connection, HOSTS, [host("b.test"), host("a.test")])


async def test_a_refused_row_takes_the_whole_transaction_along(database: Database) -> None:
    async with database.write() as connection:
        await write_at_commit(connection, HOSTS, [host("a.test")])
    with pytest.raises(StoreError):
        await write_one_twice(database)
    assert await slots(database) == []
    assert await paces(database) == {"a.test": 1_000}


@pytest.fixture
async def postgres_database(migrated_postgres_url: str) -> Any:
    opened = open_database(migrated_postgres_url)
    yield opened
    await opened.close()


async def test_on_postgres_the_last_writes_are_one_statement(postgres_database: Database) -> None:
    said: list[str] = []

    @event.listens_for(postgres_database.engine.sync_engine, "before_cursor_execute")
    def _note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        said.append(statement)

    async with postgres_database.write() as connection:
        await write_at_commit(connection, HOSTS, [host("a.test"), host("b.test")])
        await write_at_commit(connection, SLOTS, [slot("rescue"), slot("beat")])
    assert len(said) == 1
    assert (len(await paces(postgres_database)), await slots(postgres_database)) == (2, ["beat", "rescue"])


async def test_a_connection_that_the_server_ended_is_not_used_again(
    postgres_database: Database, migrated_postgres_url: str
) -> None:
    async with postgres_database.read() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        pid = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    other = open_database(migrated_postgres_url)
    async with other.write() as connection:
        await connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        for _ in range(10_000):
            await connection.execute(text("SELECT 1"))
            if driver.is_closed():
                break
    await other.close()
    assert driver.is_closed()
    async with postgres_database.write() as connection:
        await write_at_commit(connection, HOSTS, [host("a.test")])
    assert await paces(postgres_database) == {"a.test": 1_000}


async def test_a_commit_by_hand_sends_what_was_put_off_too(postgres_database: Database) -> None:
    async with postgres_database.engine.connect() as connection:
        await write_at_commit(connection, HOSTS, [host("a.test")])
        await connection.commit()
        await write_at_commit(connection, HOSTS, [host("b.test")])
    assert await paces(postgres_database) == {"a.test": 1_000}
