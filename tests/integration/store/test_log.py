import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import upgrade
from tidemill.store.database.wal import ENOUGH, WalCheckpointer

FRAME = 4_096 + 24
A_SET = ENOUGH // 4


class AtHand(Executor):
    """Does what it is given when it is told to."""

    def __init__(self) -> None:
        self.given: list[Callable[[], None]] = []

    def submit(self, work: Callable[..., Any], /, *_: Any, **__: Any) -> Future[Any]:
        done: Future[Any] = Future()

        def do() -> None:
            work()
            done.set_result(None)

        self.given.append(do)
        return done

    def go(self) -> None:
        while self.given:
            self.given.pop(0)()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "some.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT)")
        yield connection


def write(connection: sqlite3.Connection, log: WalCheckpointer, rows: int) -> None:
    before = connection.total_changes
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO words (word) VALUES (?)", [("word" * 40,)] * rows)
    connection.execute("COMMIT")
    log.grew(connection.total_changes - before, connection)


def frames(tmp_path: Path) -> int:
    return (tmp_path / "some.db-wal").stat().st_size // FRAME


def rows_in_file_alone(tmp_path: Path) -> int:
    """What the database's file holds without its log."""
    alone = tmp_path / "alone.db"
    alone.write_bytes((tmp_path / "some.db").read_bytes())
    with closing(sqlite3.connect(alone)) as connection:
        return int(connection.execute("SELECT count(*) FROM words").fetchone()[0])


def test_little_is_left_in_the_log(tmp_path: Path, writer: sqlite3.Connection) -> None:
    pen = AtHand()
    log = WalCheckpointer(str(tmp_path / "some.db"), pen)
    for _ in range(3):
        write(writer, log, A_SET)
    assert pen.given == []


def test_a_full_log_is_brought_in_by_another_thread(tmp_path: Path, writer: sqlite3.Connection) -> None:
    pen = AtHand()
    log = WalCheckpointer(str(tmp_path / "some.db"), pen)
    for _ in range(4):
        write(writer, log, A_SET)
    assert len(pen.given) == 1
    pen.go()
    assert rows_in_file_alone(tmp_path) == ENOUGH


def test_only_one_thread_does_so_at_a_time(tmp_path: Path, writer: sqlite3.Connection) -> None:
    pen = AtHand()
    log = WalCheckpointer(str(tmp_path / "some.db"), pen)
    for _ in range(12):
        write(writer, log, A_SET)
    assert len(pen.given) == 1


def test_the_commit_after_it_adds_the_rest_and_the_log_begins_anew(tmp_path: Path, writer: sqlite3.Connection) -> None:
    pen = AtHand()
    log = WalCheckpointer(str(tmp_path / "some.db"), pen)
    for _ in range(6):
        write(writer, log, A_SET)
    pen.go()
    write(writer, log, A_SET)
    assert rows_in_file_alone(tmp_path) == 7 * A_SET
    largest = frames(tmp_path)
    for _ in range(40):
        write(writer, log, A_SET)
        pen.go()
    assert frames(tmp_path) == largest


def test_a_log_that_cannot_be_brought_in_stands_in_nobodys_way(tmp_path: Path, writer: sqlite3.Connection) -> None:
    pen = AtHand()
    log = WalCheckpointer(str(tmp_path / "nowhere" / "some.db"), pen)
    for _ in range(8):
        write(writer, log, A_SET)
        pen.go()
    assert writer.execute("SELECT count(*) FROM words").fetchone() == (8 * A_SET,)


def test_a_reader_keeps_what_it_sees(tmp_path: Path, writer: sqlite3.Connection) -> None:
    pen = AtHand()
    log = WalCheckpointer(str(tmp_path / "some.db"), pen)
    write(writer, log, A_SET)
    with closing(sqlite3.connect(tmp_path / "some.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM words").fetchone() == (A_SET,)
        for _ in range(8):
            write(writer, log, A_SET)
            pen.go()
        assert reader.execute("SELECT count(*) FROM words").fetchone() == (A_SET,)
        reader.execute("COMMIT")
        assert reader.execute("SELECT count(*) FROM words").fetchone() == (9 * A_SET,)


async def test_a_database_that_lasts_brings_its_log_in(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'some.db'}")
    await upgrade(database)
    async with database.write() as connection:
        await connection.execute(text("CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT)"))
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :many)"
    say = text(f"INSERT INTO words (word) {numbers} SELECT printf('%0160d', i) FROM n")  # noqa: S608 - our own words
    with closing(sqlite3.connect(tmp_path / "some.db")) as other:  # the last one to close would bring everything in
        other.execute("SELECT count(*) FROM words").fetchone()
        for _ in range(4):
            async with database.write() as connection:
                await connection.execute(say, {"many": A_SET})
        await database.close()
        assert rows_in_file_alone(tmp_path) == ENOUGH
