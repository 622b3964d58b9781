"""Statements that go to the driver by a short way must say the same as by the long one, on both databases."""

import asyncio
from datetime import UTC, datetime

import pytest
from asyncpg import InternalClientError
from sqlalchemy import Boolean, bindparam, case, func, select, text, update
from sqlalchemy.exc import DBAPIError

from tidemill.pipeline.ports import StoreError, StoreLost
from tidemill.store.database.bulk import read_all, write_at_commit, write_many
from tidemill.store.database.database import translate
from tidemill.store.schema import hosts, sources

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
INSERT = hosts.insert()
NAMED = select(hosts).where(hosts.c.host.in_(bindparam("b_keys", expanding=True))).order_by(hosts.c.host)
BUSY_BY = (
    select(hosts.c.host, func.coalesce(hosts.c.served_at, hosts.c.opens_at).label("when"), hosts.c.has_work)
    .where(hosts.c.opens_at <= bindparam("b_now"), hosts.c.host.in_(bindparam("b_keys", expanding=True)))
    .where(hosts.c.interval_ms.in_(bindparam("b_paces", expanding=True)))
    .order_by(hosts.c.host)
    .limit(bindparam("b_limit"))
)


@pytest.fixture
async def connection(database):
    rows = [
        {
            "host": f"{name}.test",
            "interval_ms": pace,
            "burst": 1,
            "parallel": 2,
            "opens_at": NOON,
            "has_work": pace > 1000,
        }
        for name, pace in (("a", 1000), ("b", 2000), ("c", 3000))
    ]
    async with database.write() as connection:
        await write_many(connection, INSERT, rows)
    async with database.write() as connection:
        yield connection


async def by_the_long_way(connection, statement, parameters):
    return [dict(row) for row in (await connection.execute(statement, parameters)).mappings()]


@pytest.mark.parametrize("keys", [[], ["b.test"], ["a.test", "c.test", "nobody.test"]])
async def test_a_list_of_any_length_finds_what_it_names(connection, keys):
    found = await read_all(connection, NAMED, {"b_keys": keys})
    assert found == await by_the_long_way(connection, NAMED, {"b_keys": keys})
    assert [row["host"] for row in found] == [key for key in keys if key != "nobody.test"]


async def test_moments_and_truths_come_back_as_their_columns_have_them(connection):
    asked = {"b_now": NOON, "b_keys": ["c.test", "a.test", "b.test"], "b_paces": [2000, 3000], "b_limit": 5}
    found = await read_all(connection, BUSY_BY, asked)
    assert found == await by_the_long_way(connection, BUSY_BY, asked)
    assert found == [
        {"host": "b.test", "when": NOON, "has_work": True},
        {"host": "c.test", "when": NOON, "has_work": True},
    ]


SLOWER = (
    update(hosts)
    .where(hosts.c.host == bindparam("b_host"))
    .values(
        interval_ms=hosts.c.interval_ms + bindparam("b_more"),
        served_at=bindparam("b_served"),
        has_work=case((bindparam("b_done", type_=Boolean()), False), else_=hosts.c.has_work),
    )
)
UNTYPED = update(hosts).where(hosts.c.host == bindparam("b_host")).values(has_work=case((bindparam("b_done"), False)))
EVERY = select(hosts).order_by(hosts.c.host)


def a_host(number):
    return {
        "host": f"{number:03}.test", "interval_ms": number, "burst": 1, "parallel": 1, "opens_at": NOON,
        "served_at": NOON if number % 2 else None, "has_work": True,
    }  # fmt: skip


@pytest.mark.parametrize("count", [1, 7, 40, 300])
async def test_a_set_is_written_as_row_by_row(database, count):
    made = [a_host(number) for number in range(count)]
    changes = [
        {
            "b_host": f"{number:03}.test",
            "b_more": number,
            "b_served": None if number % 3 else NOON,
            "b_done": number > 5,
        }
        for number in range(0, count, 2)
    ]
    async with database.write() as connection:
        await write_at_commit(connection, INSERT, made)
    async with database.write() as connection:
        await write_at_commit(connection, SLOWER, changes)
    async with database.glance() as connection:
        at_once = await read_all(connection, EVERY, {})
    async with database.write() as connection:
        await connection.execute(hosts.delete())
        await write_many(connection, INSERT, made)
        await write_many(connection, SLOWER, changes)
        one_by_one = await read_all(connection, EVERY, {})
    assert len(at_once) == count
    assert at_once == one_by_one


async def test_a_statement_whose_types_are_unknown_is_written_row_by_row(database):
    async with database.write() as connection:
        await write_at_commit(connection, INSERT, [a_host(number) for number in range(20)])
    async with database.write() as connection:
        await write_at_commit(connection, UNTYPED, [{"b_host": "003.test", "b_done": True}])
    async with database.glance() as connection:
        assert [row["host"] for row in await read_all(connection, EVERY, {}) if not row["has_work"]] == ["003.test"]


OTHERS = select(hosts.c.host).where(hosts.c.host.not_in(bindparam("b_keys", expanding=True))).order_by(hosts.c.host)


@pytest.mark.parametrize("keys", [[], ["b.test"], ["a.test", "c.test", "nobody.test"]])
async def test_a_list_of_any_length_leaves_out_what_it_names(connection, keys):
    found = await read_all(connection, OTHERS, {"b_keys": keys})
    assert found == await by_the_long_way(connection, OTHERS, {"b_keys": keys})
    assert {row["host"] for row in found} == {"a.test", "b.test", "c.test"} - set(keys)


async def test_numbers_and_documents_come_back_as_their_columns_have_them(connection):
    row = {
        "id": 1,
        "name": "agenda",
        "vertical": "events",
        "base_url": "https://a.test",
        "adapter_id": "events.generic",
        "latitude": 52.25,
        "headers": {"accept": ["text/html"]},
        "created_at": NOON,
        "updated_at": NOON,
    }
    await write_many(connection, sources.insert(), [row])
    every = select(sources).where(sources.c.id.in_(bindparam("b_keys", expanding=True)))
    (found,) = await read_all(connection, every, {"b_keys": [1]})
    assert [found] == await by_the_long_way(connection, every, {"b_keys": [1]})
    assert (found["latitude"], found["headers"]) == (52.25, {"accept": ["text/html"]})


async def test_on_postgres_a_longer_list_is_the_same_statement(connection):
    if connection.dialect.name != "postgresql":
        pytest.skip("SQLite has no arrays, and plans a question in microseconds")
    said = []
    driver = (await connection.get_raw_connection()).driver_connection
    with driver.query_logger(lambda logged: said.append(logged.query)):
        for keys in (["a.test"], ["a.test", "b.test"], ["a.test", "b.test", "c.test"]):
            await read_all(connection, NAMED, {"b_keys": keys})
    asked = [each for each in said if "WHERE" in each]  # the driver tells a moment later, so the last may be missing
    assert len(asked) > 1
    assert len(set(asked)) == 1


async def test_what_is_asked_first_holds_its_rows_until_the_transaction_ends(database, connection):
    """The driver is asked without SQLAlchemy, which begins its transactions with its own first statement."""
    if connection.dialect.name != "postgresql":
        pytest.skip("on SQLite a transaction begins before anything is asked")
    await connection.commit()
    held = NAMED.with_for_update()
    nobody_waits = NAMED.with_for_update(skip_locked=True)
    async with database.write() as first, database.write() as second:
        assert len(await read_all(first, held, {"b_keys": ["a.test"]})) == 1
        free = await read_all(second, nobody_waits, {"b_keys": ["a.test", "b.test"]})
        assert [row["host"] for row in free] == ["b.test"]


async def test_a_question_that_is_refused_is_told_as_a_store_error(database):
    """One that goes straight to the driver is refused in the same words, and costs nobody else the connection."""
    nowhere = select(hosts).where(hosts.c.host == bindparam("b_key"), text("no_such_column = 1"))
    for _ in range(2):
        with pytest.raises(StoreError, match="no_such_column"):
            async with database.write() as connection:
                await read_all(connection, nowhere, {"b_key": "a.test"})
    async with database.write() as connection:
        assert await read_all(connection, NAMED, {"b_keys": ["a.test"]}) == []


async def test_a_server_that_breaks_off_in_the_middle_of_a_question_is_waited_for(database):
    if database.is_sqlite:
        pytest.skip("SQLite has no server")
    whoever = select(func.pg_backend_pid().label("pid"))
    endless = select(func.pg_sleep(bindparam("b_seconds")).label("slept"))
    asleep = select(func.pg_terminate_backend(bindparam("b_pid")).label("ended")).where(
        text("EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active' AND query LIKE '%pg_sleep%')")
    )

    async def ask(told: "asyncio.Future[int]") -> None:
        async with database.write() as connection:
            (row,) = await read_all(connection, whoever, {})
            told.set_result(row["pid"])
            await read_all(connection, endless, {"b_seconds": 60.0})

    told: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(ask(told))
    pid = await told
    ended: list[dict[str, object]] = []
    while not ended:
        async with database.write() as other:
            ended = await read_all(other, asleep, {"b_pid": pid})
    with pytest.raises(StoreLost, match="the database does not answer"):
        await asking
    async with database.write() as connection:
        assert await read_all(connection, NAMED, {"b_keys": ["a.test"]}) == []


def test_what_the_driver_says_after_a_server_broke_off_means_that_it_is_away():
    said = InternalClientError("cannot switch to state 15; another operation (2) is in progress")
    told = translate(DBAPIError("ROLLBACK", None, said))
    assert isinstance(told, StoreLost)
    assert "the database does not answer" in str(told)
