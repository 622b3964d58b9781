"""Statements that go to the driver by hand: lists and sets of any size, NULLs, errors and locks, on both databases."""

import asyncio
from typing import Any

import pytest
from asyncpg import InternalClientError
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from rig.clock import NOON
from tidemill.pipeline.ports import StoreError, StoreLost
from tidemill.store.database.codecs import BIGINT, BOOLEAN, FLOAT, INTEGER, TEXT, codecs_of
from tidemill.store.database.database import open_database
from tidemill.store.database.hot_statements import FEW, SIZES, HotQuery, HotRows, ListOf
from tidemill.store.database.outages import translate
from tidemill.store.schema import hosts, sources

HOST = codecs_of(hosts)
INSERT = HotRows("test.insert", HOST, "INSERT INTO hosts ({columns}) {rows}")
IGNORE = HotRows("test.ignore", HOST, "INSERT INTO hosts ({columns}) {rows} ON CONFLICT DO NOTHING")
SLOWER = HotRows(
    "test.slower",
    {"host": TEXT, "more": INTEGER, "is_done": BOOLEAN},
    "WITH v ({columns}) AS ({rows}) UPDATE hosts SET interval_ms = hosts.interval_ms + v.more,"
    " has_work = CASE WHEN v.is_done THEN NOT hosts.has_work ELSE hosts.has_work END FROM v WHERE hosts.host = v.host",
)
FOUND = HotRows(
    "test.found",
    {"host": TEXT},
    "WITH v ({columns}) AS ({rows}) SELECT hosts.host FROM v JOIN hosts ON hosts.host = v.host",
    gives={"host": TEXT},
)
NAMED = HotQuery(
    "test.named",
    sqlite=f"SELECT {', '.join(HOST)} FROM hosts WHERE host IN (SELECT value FROM json_each(?1)) ORDER BY host",
    postgres=f"SELECT {', '.join(HOST)} FROM hosts WHERE host = ANY ($1::text[]) ORDER BY host FOR UPDATE",
    takes={"hosts": ListOf(TEXT)},
    gives=HOST,
)
FREE = HotQuery(
    "test.free",
    sqlite=NAMED.sqlite,
    postgres=f"{NAMED.postgres} SKIP LOCKED",
    takes={"hosts": ListOf(TEXT)},
    gives=HOST,
)
EDGES = sorted({0, 1, *(near for edge in (FEW, *SIZES, sum(SIZES)) for near in (edge - 1, edge, edge + 1))})


def host(number, **changes):
    row = {
        "host": f"{number:05}.test", "interval_ms": number, "burst": 1, "parallel": 1, "crawl_delay_ms": None,
        "tab_at": None, "opens_at": NOON, "served_at": NOON if number % 2 else None, "has_work": bool(number % 3),
        "guests": 0, "guests_until": None,
    }  # fmt: skip
    return row | changes


async def kept(database):
    async with database.read() as connection:
        return [dict(row) for row in (await connection.execute(select(hosts).order_by(hosts.c.host))).mappings()]


async def test_every_row_of_a_set_is_written_once_however_large_the_set(database):
    written = []
    for number, count in enumerate(EDGES):
        rows = [host(1_000 * number + each) for each in range(count)]
        async with database.write() as connection:
            await (INSERT.write if number % 2 else INSERT.write_at_commit)(connection, rows)
        written += rows
    assert await kept(database) == written


@pytest.mark.parametrize("count", [0, 1, FEW - 1, FEW, 300])
async def test_a_set_changes_each_of_its_rows_once_and_no_other(database, count):
    async with database.write() as connection:
        await INSERT.write(connection, [host(number) for number in range(301)])
    changes = [{"host": host(number)["host"], "more": 5_000, "is_done": number % 2 == 0} for number in range(count)]
    async with database.write() as connection:
        await SLOWER.write_at_commit(connection, changes)
    expected = [host(number) for number in range(301)]
    for number in range(count):
        expected[number]["interval_ms"] += 5_000
        expected[number]["has_work"] ^= number % 2 == 0
    assert await kept(database) == expected


async def test_rows_that_are_there_already_are_left_alone_where_the_statement_says_so(database):
    async with database.write() as connection:
        await INSERT.write(connection, [host(number) for number in range(0, 300, 2)])
    async with database.write() as connection:
        await IGNORE.write_at_commit(connection, [host(number, burst=7) for number in range(300)])
    assert [row["burst"] for row in await kept(database)] == [1, 7] * 150


@pytest.mark.parametrize("asked", [0, 1, 7, 300])
async def test_a_list_and_a_set_of_any_length_find_what_they_name(database, asked):
    async with database.write() as connection:
        await INSERT.write(connection, [host(number) for number in range(200)])
        names = [host(number)["host"] for number in range(150, 150 + asked)]
        by_list = await NAMED.fetch(connection, hosts=names)
        by_set = await FOUND.fetch(connection, [{"host": name} for name in names])
    assert by_list == [host(number) for number in range(150, min(200, 150 + asked))]
    assert sorted(row["host"] for row in by_set) == [row["host"] for row in by_list]


async def test_a_reader_in_a_thread_of_its_own_may_ask_too(database):
    async with database.write() as connection:
        await INSERT.write(connection, [host(1)])
    async with database.read() as connection:
        assert await NAMED.fetch(connection, hosts=["00001.test"]) == [host(1)]


async def test_numbers_and_documents_come_back_as_their_columns_have_them(database):
    row = {
        "id": 1, "name": "agenda", "vertical": "events", "base_url": "https://a.test", "adapter_id": "events.generic",
        "latitude": 52.25, "headers": {"accept": ["text/html", "ë"]}, "created_at": NOON, "updated_at": NOON,
    }  # fmt: skip
    gives = codecs_of(sources)
    query = HotQuery(
        "test.source",
        sqlite=f"SELECT {', '.join(gives)} FROM scraper_sources WHERE latitude > ?1",
        postgres=f"SELECT {', '.join(gives)} FROM scraper_sources WHERE latitude > $1",
        takes={"latitude": FLOAT},
        gives=gives,
    )
    async with database.write() as connection:
        await connection.execute(sources.insert(), [row])
        (found,) = await query.fetch(connection, latitude=52.0)
        assert found == dict((await connection.execute(select(sources))).mappings().one())
        assert found["headers"] == row["headers"]
        assert await query.fetch(connection, latitude=53.0) == []


async def test_how_many_rows_were_met_is_told(database):
    query = HotQuery(
        "test.idle",
        sqlite="UPDATE hosts SET has_work = 0 WHERE interval_ms < ?1",
        postgres="UPDATE hosts SET has_work = false WHERE interval_ms < $1",
        takes={"limit": BIGINT},
    )
    async with database.write() as connection:
        await INSERT.write(connection, [host(number) for number in range(20)])
        assert await query.execute(connection, limit=13) == 13
        assert await query.execute(connection, limit=0) == 0


async def fail_after_writing(database):
    async with database.write() as connection:
        await INSERT.write_at_commit(connection, [host(1)])
        await INSERT.write(connection, [host(2)])
        raise ZeroDivisionError


async def test_what_is_undone_leaves_nothing(database):
    with pytest.raises(ZeroDivisionError):
        await fail_after_writing(database)
    async with database.write() as connection:
        await INSERT.write_at_commit(connection, [host(3)])
    assert await kept(database) == [host(3)]


async def write_one_again(database, count):
    async with database.write() as connection:
        await INSERT.write_at_commit(connection, [host(number) for number in range(100, 100 + count)])
        await INSERT.write_at_commit(connection, [host(1)])


@pytest.mark.parametrize("count", [1, 300])
async def test_a_refused_row_takes_the_whole_transaction_along(database, count):
    async with database.write() as connection:
        await INSERT.write_at_commit(connection, [host(1)])
    with pytest.raises(StoreError):
        await write_one_again(database, count)
    assert await kept(database) == [host(1)]


async def test_rows_that_are_partly_known_at_the_commit_are_asked_for_then(sqlite_database):
    known: list[Any] = []
    async with sqlite_database.write() as connection:
        INSERT.write_when_known(connection, lambda: known)
        known += [host(1), host(2)]
    assert await kept(sqlite_database) == known


async def test_on_postgres_a_longer_list_is_the_same_statement(database):
    if database.is_sqlite:
        pytest.skip("SQLite's driver tells no statements; its text is the same too")
    said = []
    async with database.write() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        with driver.query_logger(lambda logged: said.append(logged.query)):
            for count in (1, 2, 3):
                await NAMED.fetch(connection, hosts=["a.test"] * count)
    asked = [each for each in said if "WHERE" in each]  # the driver tells a moment later, so the last may be missing
    assert len(asked) > 1
    assert len(set(asked)) == 1


async def test_what_is_asked_first_holds_its_rows_until_the_transaction_ends(database):
    """The driver is asked without SQLAlchemy, which begins its transactions with its own first statement."""
    if database.is_sqlite:
        pytest.skip("on SQLite a transaction begins before anything is asked")
    async with database.write() as connection:
        await INSERT.write(connection, [host(1), host(2)])
    async with database.write() as first, database.write() as second:
        assert len(await NAMED.fetch(first, hosts=["00001.test"])) == 1
        free = await FREE.fetch(second, hosts=["00001.test", "00002.test"])
        assert [row["host"] for row in free] == ["00002.test"]


async def test_a_question_that_is_refused_is_told_as_a_store_error(database):
    """It goes straight to the driver, is refused in the same words, and costs nobody else the connection."""
    nowhere = HotQuery(
        "test.nowhere",
        sqlite="SELECT no_such_column FROM hosts WHERE host = ?1",
        postgres="SELECT no_such_column FROM hosts WHERE host = $1",
        takes={"host": TEXT},
        gives={"host": TEXT},
    )
    for _ in range(2):
        with pytest.raises(StoreError, match="no_such_column"):
            async with database.write() as connection:
                await nowhere.fetch(connection, host="a.test")
    async with database.write() as connection:
        assert await NAMED.fetch(connection, hosts=["a.test"]) == []


async def test_a_server_that_breaks_off_in_the_middle_of_a_question_is_waited_for(database):
    if database.is_sqlite:
        pytest.skip("SQLite has no server")

    def only_postgres(text, takes, gives):
        return HotQuery("test.only_postgres", sqlite="", postgres=text, takes=takes, gives=gives)

    whoever = only_postgres("SELECT pg_backend_pid()", {}, {"pid": INTEGER})
    endless = only_postgres("SELECT pg_sleep($1)", {"seconds": FLOAT}, {"slept": TEXT})
    asleep = only_postgres(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid = $1 AND state = 'active' AND query LIKE '%pg_sleep%'",
        {"pid": INTEGER},
        {"ended": BOOLEAN},
    )

    async def ask(told):
        async with database.write() as connection:
            (row,) = await whoever.fetch(connection)
            told.set_result(row["pid"])
            await endless.fetch(connection, seconds=60.0)

    told = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(ask(told))
    pid = await told
    ended: list[Any] = []
    while not ended:
        async with database.write() as other:
            ended = await asleep.fetch(other, pid=pid)
    with pytest.raises(StoreLost, match="the database does not answer"):
        await asking
    async with database.write() as connection:
        assert await NAMED.fetch(connection, hosts=["a.test"]) == []


async def test_a_connection_that_the_server_ended_is_not_used_again(migrated_postgres_url):
    database, other = open_database(migrated_postgres_url), open_database(migrated_postgres_url)
    async with database.read() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        pid = (await connection.exec_driver_sql("SELECT pg_backend_pid()")).scalar_one()
    async with other.write() as connection:
        await connection.exec_driver_sql(f"SELECT pg_terminate_backend({pid})")
        for _ in range(10_000):
            await connection.exec_driver_sql("SELECT 1")
            if driver.is_closed():
                break
    await other.close()
    assert driver.is_closed()
    async with database.write() as connection:
        await INSERT.write_at_commit(connection, [host(1)])
    assert await kept(database) == [host(1)]
    await database.close()


def test_what_the_driver_says_after_a_server_broke_off_means_that_it_is_away():
    said = InternalClientError("cannot switch to state 15; another operation (2) is in progress")
    told = translate(DBAPIError("ROLLBACK", None, said))
    assert isinstance(told, StoreLost)
    assert "the database does not answer" in str(told)
