"""The statements that every page goes through: compiled once, and handed to the driver with as little ado as can be.

SQLAlchemy prepares each row of a set as if it were the only one, and each question as if it were asked for the first
time. For these statements that was dearer than the database's own work.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, cast

import msgspec
from sqlalchemy import Dialect, Executable, Float, Table
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.inline import InlineAsyncConnection
from tidemill.store.database.many_rows import write_rows
from tidemill.store.database.postgres import PostgresConnection, Write
from tidemill.store.database.unnested import unnested

Row = Mapping[str, Any]
Slot = tuple[str, Callable[[Any], Any] | None, Any]
"""A place in the driver's tuple: the parameter's name, how its value is prepared, and its fixed value if it has one."""
LIST = re.compile(r"__\[POSTCOMPILE_(\w+?)(?:~~.*?)?\]")
"""Where SQLAlchemy leaves room for a list of values, whose number it does not know yet."""
FLOAT8 = 701
"""How PostgreSQL marks a double: SQLAlchemy wants to know, and without a cursor of its own cannot."""
AMONG = re.compile(r"(NOT )?IN \(" + LIST.pattern + r"\)")
"""A list with the word before it, which PostgreSQL says otherwise of an array."""


async def write_many(connection: AsyncConnection, statement: Any, rows: Sequence[Row]) -> None:
    """Execute an INSERT or UPDATE once per row, in order, in one call to the driver; all rows have the same keys."""
    if not rows:
        return
    text, fill = _filling(statement, connection.dialect, tuple(rows[0]))
    filled = [fill(row) for row in rows]
    if isinstance(connection, InlineAsyncConnection):
        write_rows(connection.driver, text, filled)
    else:
        await connection.exec_driver_sql(text, filled)


async def write_at_commit(connection: AsyncConnection, statement: Any, rows: Sequence[Row]) -> None:
    """As `write_many`, for rows of different keys that nobody reads before the commit.

    They go with the commit: on SQLite in its thread, to PostgreSQL in one statement for all sets. That may lock rows in
    any order: those that two workers could meet at once are locked beforehand, or belong to `write_many`.
    """
    if not rows:
        return
    names = tuple(rows[0])
    text, fill = _filling(statement, connection.dialect, names)
    filled = [fill(row) for row in rows]
    if isinstance(connection, InlineAsyncConnection):
        connection.driver.defer_to_commit(lambda driver: write_rows(driver, text, filled, apart=True))
    elif together := unnested(statement, connection.dialect, names):
        columns = tuple(map(list, zip(*filled, strict=True)))
        cast("PostgresConnection", connection).defer_to_commit(Write(statement.table.name, together, columns))
    else:
        await connection.exec_driver_sql(text, filled)


def write_when_known(
    connection: InlineAsyncConnection, statement: Any, names: Sequence[str], rows: Callable[[], Sequence[Row]]
) -> None:
    """As `write_at_commit` on SQLite, for rows that are partly known only at the commit."""
    text, fill = _filling(statement, connection.dialect, tuple(names))

    def write(driver: sqlite3.Connection) -> None:
        write_rows(driver, text, [fill(row) for row in rows()], apart=True)

    connection.driver.defer_to_commit(write)


async def copy_rows(
    connection: AsyncConnection, table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert new rows by COPY, as a part of the transaction, on PostgreSQL; what is refused is refused as by INSERT.

    The driver looks at each value of a list, before it sends it, to see if it is a list too. Here it does not.
    """
    await cast("PostgresConnection", connection).copy(table.name, names, rows)


async def change(connection: AsyncConnection, statement: Any, parameters: Row) -> int:
    """Execute one UPDATE, INSERT or DELETE; answers how many rows it met."""
    said = _said(_asked(statement, connection.dialect), parameters)
    if not isinstance(connection, InlineAsyncConnection):
        return int((await connection.exec_driver_sql(*said)).rowcount)
    return connection.driver.execute(*said).rowcount


async def read_all(connection: AsyncConnection, statement: Any, parameters: Row) -> list[dict[str, Any]]:
    """The rows that a SELECT answers, each by column name; nothing of SQLAlchemy's stands before the engine's drivers.

    PostgreSQL gets a list as one array: with as many parameters as values, each length is a statement of its own, which
    is put together, parsed and planned anew.
    """
    question = _asked(statement, connection.dialect)
    said = _said(question, parameters)
    return question.rows(await _answers(connection, *said))


async def _answers(connection: AsyncConnection, text: str, values: tuple[Any, ...]) -> Iterable[Iterable[Any]]:
    if isinstance(connection, InlineAsyncConnection):
        return connection.driver.execute(text, values)
    if isinstance(connection, PostgresConnection):
        return await connection.fetch(text, values)
    return await connection.exec_driver_sql(text, values)


def _said(question: "_Question", parameters: Row) -> tuple[str, tuple[Any, ...]]:
    if question.in_arrays:
        return question.text, tuple(_value(slot, parameters, question.lists) for slot in question.slots)
    values = tuple(chain.from_iterable(_values(slot, parameters, question.lists) for slot in question.slots))
    return question.text_for(tuple(len(parameters[name]) for name in question.lists)), values


class _Question(msgspec.Struct, frozen=True):
    """A SELECT as the driver takes it, and what becomes of its answers."""

    text: str
    slots: tuple[Slot, ...]
    lists: tuple[str, ...]
    names: tuple[str, ...]
    readers: tuple[tuple[str, Callable[[Any], Any]], ...]
    in_arrays: bool

    def text_for(self, lengths: tuple[int, ...]) -> str:
        """The words, with room for lists of these lengths."""
        return _with_room(self.text, lengths) if lengths else self.text

    def rows(self, answers: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
        """The answers by column name, their values as the columns' types have them; NULL is None in each."""
        names = self.names
        rows = [dict(zip(names, values, strict=True)) for values in answers]
        for name, reader in self.readers:
            for row in rows:
                if (value := row[name]) is not None:
                    row[name] = reader(value)
        return rows


@lru_cache(maxsize=512)
def _with_room(text: str, lengths: tuple[int, ...]) -> str:
    left = iter(lengths)
    return LIST.sub(lambda _: ", ".join("?" * next(left)), text)


@lru_cache(maxsize=256)
def _asked(statement: Executable, dialect: Dialect) -> _Question:
    compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    text, slots = _compiled(statement, dialect, ())
    lists = tuple(LIST.findall(text))
    columns = compiled._result_columns  # noqa: SLF001 - as below
    readers = ((column.keyname, _reader(column.type, dialect)) for column in columns)
    if in_arrays := dialect.name == "postgresql":
        text, slots = _with_arrays(compiled, text, slots, lists)
    return _Question(
        text,
        slots,
        lists,
        tuple(column.keyname for column in columns),
        tuple((name, reader) for name, reader in readers if reader is not None),
        in_arrays,
    )


def _reader(kind: Any, dialect: Dialect) -> Callable[[Any], Any] | None:
    """What makes a value of the column's type of what the driver answers."""
    sent_as = FLOAT8 if isinstance(kind, Float) else None
    reader: Callable[[Any], Any] | None = kind._cached_result_processor(dialect, sent_as)  # noqa: SLF001 - as below
    return reader


def _with_arrays(
    compiled: Any, text: str, slots: tuple[Slot, ...], lists: tuple[str, ...]
) -> tuple[str, tuple[Slot, ...]]:
    """The statement with each list as one parameter; SQLAlchemy has numbered the others, so that lists come last."""
    plain = [slot for slot in slots if slot[0] not in lists]
    places = {}
    for number, name in enumerate(dict.fromkeys(lists), len(plain) + 1):
        places[name] = f"(${number}::{compiled.binds[name].type.compile(dialect=compiled.dialect)}[])"
    by_name = {slot[0]: slot for slot in slots}
    arrayed = AMONG.sub(lambda found: ("<> ALL " if found[1] else "= ANY ") + places[found[2]], text)
    return arrayed, (*plain, *(by_name[name] for name in places))


def _value(slot: Slot, parameters: Row, lists: tuple[str, ...]) -> Any:
    """What goes into a place of its own, be it a list."""
    values = _values(slot, parameters, lists)
    return list(values) if slot[0] in lists else values[0]


def _values(slot: Slot, parameters: Row, lists: tuple[str, ...]) -> Sequence[Any]:
    name, prepare, fixed = slot
    if name not in parameters:
        return (fixed,)
    value = parameters[name]
    if name in lists:
        return value if prepare is None else [prepare(one) for one in value]
    return (value if prepare is None else prepare(value),)


@lru_cache(maxsize=256)
def _filling(
    statement: Executable, dialect: Dialect, keys: tuple[str, ...]
) -> tuple[str, Callable[[Row], tuple[Any, ...]]]:
    """The statement as the driver takes it, and what makes its tuple of a row: values are fetched in one go."""
    text, slots = _compiled(statement, dialect, keys)
    fixed = {name: value for name, _, value in slots if name not in keys}
    names = [name for name, _, _ in slots]
    prepares = [(at, prepare) for at, (name, prepare, _) in enumerate(slots) if prepare and name not in fixed]
    fetch: Callable[[Row], tuple[Any, ...]] = itemgetter(*names) if len(names) > 1 else lambda row: (row[names[0]],)

    def fill(row: Row) -> tuple[Any, ...]:
        found = fetch({**fixed, **row} if fixed else row)
        if not prepares:
            return found
        values = list(found)
        for at, prepare in prepares:
            values[at] = prepare(values[at])
        return tuple(values)

    return text, fill


@lru_cache(maxsize=256)
def _compiled(statement: Executable, dialect: Dialect, keys: tuple[str, ...]) -> tuple[str, tuple[Slot, ...]]:
    """The statement as the driver takes it, and what goes where; statements are built once, so few are kept."""
    compiled: Any = statement.compile(dialect=dialect, column_keys=list(keys))  # type: ignore[attr-defined]
    prepares, known = compiled._bind_processors, compiled.params  # noqa: SLF001 - SQLAlchemy has no public way in
    fixed = {name: _prepared(known[name], prepares.get(name)) for name in compiled.positiontup if name not in keys}
    slots = tuple((name, prepares.get(name), fixed.get(name)) for name in compiled.positiontup)
    return compiled.string, slots


def _prepared(value: Any, prepare: Callable[[Any], Any] | None) -> Any:
    return value if prepare is None or value is None else prepare(value)
