"""Many rows in one statement leave what one statement for each row leaves."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.store.database.many_rows import FEW, SIZES, write_rows

INSERT = "INSERT INTO t (id, name, body) VALUES (?, ?, ?)"
UPSERT = f"{INSERT} ON CONFLICT (id) DO UPDATE SET name = excluded.name, body = excluded.body"
IGNORE = f"{INSERT} ON CONFLICT DO NOTHING"
TOUCH = f"{INSERT} ON CONFLICT (id) DO UPDATE SET name = ?"
RENAME = "UPDATE t SET name=?, body=CASE WHEN ? THEN t.body END WHERE t.id = ?"
EDGES = sorted({0, 1, *(near for edge in (FEW, *SIZES, sum(SIZES)) for near in (edge - 1, edge, edge + 1))})


@pytest.fixture
def driver() -> Iterator[sqlite3.Connection]:
    connection = table()
    yield connection
    connection.close()


def table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB)")
    return connection


def rows_of(count: int) -> list[tuple[int, str, bytes | None]]:
    return [(key, f"name {key}", None if key % 3 else b"\x00body") for key in range(count)]


def held(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT * FROM t ORDER BY id").fetchall()


@pytest.mark.parametrize("count", EDGES)
def test_every_row_is_written_once(driver: sqlite3.Connection, count: int) -> None:
    write_rows(driver, INSERT, rows_of(count))
    assert held(driver) == rows_of(count)


@given(st.lists(st.integers(0, 400), min_size=FEW, max_size=400), st.sampled_from((UPSERT, IGNORE)))
def test_rows_meet_in_their_order(keys: list[int], statement: str) -> None:
    rows = [(key, f"line {place}", b"") for place, key in enumerate(keys)]
    one_by_one, at_once = table(), table()
    one_by_one.executemany(statement, rows)
    write_rows(at_once, statement, rows)
    assert held(at_once) == held(one_by_one)
    one_by_one.close()
    at_once.close()


def test_a_row_that_is_refused_refuses_its_statement(driver: sqlite3.Connection) -> None:
    driver.execute("BEGIN")
    with pytest.raises(sqlite3.IntegrityError):
        write_rows(driver, INSERT, [*rows_of(40), (3, "twice", None)])
    driver.rollback()
    assert held(driver) == []


def test_a_few_rows_need_no_room_for_many(driver: sqlite3.Connection) -> None:
    said: list[str] = []
    driver.set_trace_callback(said.append)
    write_rows(driver, INSERT, rows_of(FEW - 1))
    assert not any("SELECT" in statement for statement in said)
    write_rows(driver, IGNORE, rows_of(FEW))
    assert sum("SELECT" in statement for statement in said) == 1


def test_a_statement_that_uses_values_elsewhere_runs_row_by_row(driver: sqlite3.Connection) -> None:
    rows = [(key % 10, "first", None, f"again {key}") for key in range(50)]
    write_rows(driver, TOUCH, rows)
    assert [row[1] for row in held(driver)] == [f"again {key}" for key in range(40, 50)]


def test_an_update_of_different_keys_is_one_statement(driver: sqlite3.Connection) -> None:
    driver.executemany(INSERT, rows_of(60))
    said: list[str] = []
    driver.set_trace_callback(said.append)
    write_rows(driver, RENAME, [(f"new {key}", key < 3, key) for key in range(31)], apart=True)
    assert len(said) == 1
    assert held(driver)[:31] == [(key, f"new {key}", b"\x00body" if key == 0 else None) for key in range(31)]
    assert held(driver)[31:] == rows_of(60)[31:]


def test_updates_that_may_meet_again_are_made_in_their_order(driver: sqlite3.Connection) -> None:
    driver.executemany(INSERT, rows_of(1))
    write_rows(driver, RENAME, [(f"new {turn}", True, 0) for turn in range(31)])
    assert held(driver) == [(0, "new 30", b"\x00body")]
