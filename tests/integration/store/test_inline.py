import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.store.inline import InlineConnection
from tidemill.store.sqlite import PRAGMAS, inline_engine

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
        run_virtual(lambda clock, name=name: a_busy_day(tmp_path / name, clock), EPOCH)
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


def test_rows_stream_without_a_thread(tmp_path: Path) -> None:
    async def main(_clock: VirtualClock) -> int:
        engine = engine_on(tmp_path / "some.db")
        async with engine.connect() as connection:
            numbers = await connection.stream(text("VALUES (1), (2), (3)"))
            total = sum([row[0] async for row in numbers])
        await engine.dispose()
        return total

    assert run_virtual(main, EPOCH) == 6


def test_a_closed_connection_says_so(tmp_path: Path) -> None:
    async def main(_clock: VirtualClock) -> None:
        connection = await InlineConnection(lambda: sqlite3.connect(tmp_path / "some.db"))
        await connection.close()
        await connection.close()
        with pytest.raises(ValueError, match="no active connection"):
            await connection.commit()

    run_virtual(main, EPOCH)
