import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.store.database.inline import InlineAsyncConnection
from tidemill.store.database.sqlite import PRAGMAS, inline_engine

EPOCH = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def no_thread_is_started() -> Iterator[None]:
    before = set(threading.enumerate())  # those of other tests may end meanwhile
    yield
    assert set(threading.enumerate()) - before == set()


def engine_on(path: Path) -> AsyncEngine:
    return inline_engine(make_url(f"sqlite:///{path}"), (*PRAGMAS, "PRAGMA synchronous=OFF"))


async def a_busy_day(path: Path, clock: VirtualClock) -> None:
    engine = engine_on(path)
    async with engine.begin() as connection:
        await connection.execute(text("CREATE TABLE visits (worker INTEGER, at TEXT)"))

    async def worker(number: int) -> None:
        for visit in range(30):
            await clock.sleep_until(clock.now() + timedelta(seconds=(number * 13 + visit * 5) % 17))
            async with engine.begin() as connection:
                await connection.execute(
                    text("INSERT INTO visits VALUES (:worker, :at)"),
                    {"worker": number, "at": clock.now().isoformat()},
                )

    await asyncio.gather(*(worker(number) for number in range(10)))
    await engine.dispose()


def test_two_runs_leave_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.db", "two.db"):
        run_virtual(partial(a_busy_day, tmp_path / name), EPOCH)
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "two.db").read_bytes()
    rows = sqlite3.connect(tmp_path / "one.db").execute("SELECT count(*) FROM visits").fetchone()
    assert rows == (300,)


async def insert_twice(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO t VALUES (1)"))
        await connection.execute(text("INSERT INTO t VALUES (1)"))


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    async def main(_clock: VirtualClock) -> int:
        engine = engine_on(tmp_path / "some.db")
        async with engine.begin() as connection:
            await connection.execute(text("CREATE TABLE t (n INTEGER PRIMARY KEY)"))
        with pytest.raises(IntegrityError):
            await insert_twice(engine)
        async with engine.connect() as connection:
            count = (await connection.execute(text("SELECT count(*) FROM t"))).scalar_one()
        await engine.dispose()
        return int(count)

    assert run_virtual(main, EPOCH) == 0


def test_without_a_transaction_each_statement_stands_for_itself(tmp_path: Path) -> None:
    async def main(_clock: VirtualClock) -> int:
        engine = engine_on(tmp_path / "some.db")
        async with engine.connect() as connection:
            await connection.exec_driver_sql("CREATE TABLE t (n INTEGER PRIMARY KEY)")
            await connection.exec_driver_sql("INSERT INTO t VALUES (1)")
        async with engine.connect() as connection:
            count = (await connection.execute(text("SELECT count(*) FROM t"))).scalar_one()
        await engine.dispose()
        return int(count)

    assert run_virtual(main, EPOCH) == 1


def test_many_may_look_at_once_while_one_writes(tmp_path: Path) -> None:
    async def main(_clock: VirtualClock) -> list[int]:
        engine = engine_on(tmp_path / "some.db")
        async with AsyncExitStack() as open_ones:
            async with engine.begin() as writer:
                await writer.exec_driver_sql("CREATE TABLE t (n INTEGER PRIMARY KEY)")
            await (await open_ones.enter_async_context(engine.begin())).exec_driver_sql("INSERT INTO t VALUES (1)")
            readers = [await open_ones.enter_async_context(engine.connect()) for _ in range(12)]
            seen = [(await each.exec_driver_sql("SELECT count(*) FROM t")).scalar_one() for each in readers]
        await engine.dispose()
        return seen

    assert run_virtual(main, EPOCH) == [0] * 12


def test_a_commit_that_fails_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    async def main(_clock: VirtualClock) -> list[int]:
        engine = engine_on(tmp_path / "some.db")
        async with engine.begin() as connection:
            await connection.exec_driver_sql("CREATE TABLE a (n INTEGER PRIMARY KEY)")
            await connection.exec_driver_sql("CREATE TABLE b (n REFERENCES a DEFERRABLE INITIALLY DEFERRED)")
        with pytest.raises(sqlite3.IntegrityError):
            await write(engine, "INSERT INTO b VALUES (1)")
        await write(engine, "INSERT INTO a VALUES (1)")
        async with engine.connect() as connection:
            counts = (await connection.execute(text("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)"))).one()
        await engine.dispose()
        return list(counts)

    assert run_virtual(main, EPOCH) == [1, 0]


def test_what_was_put_off_is_written_with_the_commit_or_not_at_all(tmp_path: Path) -> None:
    async def main(_clock: VirtualClock) -> list[int]:
        engine = engine_on(tmp_path / "some.db")
        await write(engine, "CREATE TABLE t (n INTEGER PRIMARY KEY)")
        await write(engine, "INSERT INTO t VALUES (1)", later="INSERT INTO t VALUES (2)")
        with pytest.raises(sqlite3.IntegrityError):  # all of it fails with its last part,
            await write(engine, "INSERT INTO t VALUES (3)", later="INSERT INTO t VALUES (2)")
        with pytest.raises(IntegrityError):
            await write(engine, "INSERT INTO t VALUES (1)", later="INSERT INTO t VALUES (4)")
        await write(engine, "INSERT INTO t VALUES (5)")  # and nothing of it is left for the next
        async with engine.connect() as connection:
            found = [row[0] for row in await connection.exec_driver_sql("SELECT n FROM t ORDER BY n")]
        await engine.dispose()
        return found

    assert run_virtual(main, EPOCH) == [1, 2, 5]


async def write(engine: AsyncEngine, statement: str, later: str = "") -> None:
    def run_later(driver: sqlite3.Connection) -> None:
        driver.execute(later)

    async with engine.begin() as connection:
        if later:
            cast("InlineAsyncConnection", connection).driver.defer_to_commit(run_later)
        await connection.execute(text(statement))
