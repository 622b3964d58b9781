"""Hot statements: those that every page goes through, written out by hand and handed straight to the driver.

SQLAlchemy prepares each row of a set as if it were the only one, and each question as if it were asked for the first
time; for these statements that was dearer than the database's own work. Everything else uses `connection.execute`.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, cast

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.codecs import Codec, Convert
from tidemill.store.database.inline import InlineAsyncConnection
from tidemill.store.database.postgres import PostgresConnection

SIZES = (16, 64, 256)
"""Rows that one statement has room for on SQLite. Few sizes, so that each is prepared once and kept."""
FEW = 8
"""Rows below this are written one by one: room for more would cost more than it saves."""

Row = Mapping[str, Any]
Values = tuple[Any, ...]
Encoder = Callable[[Values], Values]
"""Makes of a row's values what a driver takes."""


class ListOf(msgspec.Struct, frozen=True):
    """A list as one parameter: a JSON array on SQLite, for `json_each`; an array on PostgreSQL, for `ANY`.

    So the statement's text is the same for every length, and is prepared once.
    """

    element: Codec


class HotQuery:
    """A statement that is executed once: it reads rows, or changes those that its parameters name.

    Its parameters are numbered in the order of `takes`, `?1` on SQLite and `$1` on PostgreSQL; `gives` are the columns
    that it reads, in order.
    """

    def __init__(
        self,
        name: str,
        *,
        sqlite: str,
        postgres: str,
        takes: Mapping[str, Codec | ListOf],
        gives: Mapping[str, Codec] | None = None,
    ) -> None:
        """`name` is what tests and people call it."""
        self.name = name
        self.sqlite = sqlite
        self.postgres = postgres
        self.takes = takes
        self._gives = _Reader(gives or {})
        self._to_sqlite = [(each, _sqlite_parameter(kind)) for each, kind in takes.items()]
        self._to_postgres = [(each, _postgres_parameter(kind)) for each, kind in takes.items()]

    async def fetch(self, connection: AsyncConnection, **parameters: Any) -> list[dict[str, Any]]:
        """The rows that it reads, each by column name."""
        if isinstance(connection, PostgresConnection):
            found = await connection.fetch(self.postgres, self.postgres_values(parameters))
            return self._gives.from_postgres(found)
        return self._gives.from_sqlite(await _ask_sqlite(connection, self.sqlite, self.sqlite_values(parameters)))

    async def execute(self, connection: AsyncConnection, **parameters: Any) -> int:
        """Change rows; answers how many it met."""
        if isinstance(connection, PostgresConnection):
            return await connection.run(self.postgres, self.postgres_values(parameters))
        return int((await _ask_sqlite(connection, self.sqlite, self.sqlite_values(parameters))).rowcount)

    def sqlite_values(self, parameters: Row) -> Values:
        """The parameters as SQLite's driver takes them."""
        return _encoded(self._to_sqlite, parameters)

    def postgres_values(self, parameters: Row) -> Values:
        """The parameters as asyncpg takes them."""
        return _encoded(self._to_postgres, parameters)


class HotRows:
    """A statement over a set of rows, no two of which may meet in the same row of the database.

    In its text `{columns}` are the names of the columns, and `{rows}` is the set itself: a list of VALUES on SQLite,
    which works through them at a stretch, and `unnest` of an array per column on PostgreSQL. The text is the same for
    both databases, unless PostgreSQL is given another.
    """

    def __init__(
        self,
        name: str,
        columns: Mapping[str, Codec],
        sql: str,
        *,
        postgres: str = "",
        gives: Mapping[str, Codec] | None = None,
    ) -> None:
        """`name` is what tests and people call it."""
        self.name = name
        self.columns = columns
        named = ", ".join(columns)
        self.postgres = (postgres or sql).replace("{columns}", named).replace("{rows}", _unnested(columns.values()))
        self._sql = sql.replace("{columns}", named)
        self._gives = _Reader(gives or {})
        self._texts: dict[int, str] = {}
        self._values = itemgetter(*columns) if len(columns) > 1 else _only(*columns)
        self._to_sqlite = _encoder([codec.to_sqlite for codec in columns.values()])
        self._to_postgres = _encoder([codec.to_postgres for codec in columns.values()])

    async def write(self, connection: AsyncConnection, rows: Sequence[Row]) -> None:
        """Write the rows now."""
        if not rows:
            return
        if isinstance(connection, PostgresConnection):
            await connection.run(self.postgres, self._arrays(rows))
        else:
            self._write_rows(_driver(connection), self._sqlite_rows(rows))

    async def write_at_commit(self, connection: AsyncConnection, rows: Sequence[Row]) -> None:
        """Write rows that nobody reads before the commit: on SQLite in the thread that commits, else now."""
        if rows and isinstance(connection, InlineAsyncConnection):
            self.write_values_at_commit(connection, list(map(self._values, rows)))
        else:
            await self.write(connection, rows)

    def write_values_at_commit(self, connection: AsyncConnection, rows: Sequence[Values]) -> None:
        """The same on SQLite, for rows that are tuples in the order of the columns."""
        encoded = list(map(self._to_sqlite, rows))
        _inline(connection).driver.defer_to_commit(lambda driver: self._write_rows(driver, encoded))

    def write_when_known(self, connection: AsyncConnection, rows: Callable[[], Sequence[Row]]) -> None:
        """The same on SQLite, for rows that are partly known only at the commit."""
        _inline(connection).driver.defer_to_commit(lambda driver: self._write_rows(driver, self._sqlite_rows(rows())))

    async def fetch(self, connection: AsyncConnection, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """What the database has for these rows; no rows, no question."""
        if not rows:
            return []
        if isinstance(connection, PostgresConnection):
            return self._gives.from_postgres(await connection.fetch(self.postgres, self._arrays(rows)))
        found: list[dict[str, Any]] = []
        for some in _slices(self._sqlite_rows(rows)):
            found += self._gives.from_sqlite(await _ask_sqlite(connection, *self._with_room(some)))
        return found

    def sqlite(self, size: int) -> str:
        """The text with room for so many rows."""
        if size not in self._texts:
            row = f"({', '.join('?' * len(self.columns))})"
            many = f"SELECT * FROM (VALUES {', '.join([row] * size)}) LIMIT ?"  # noqa: S608 - question marks only
            self._texts[size] = self._sql.replace("{rows}", many if size > 1 else f"VALUES {row}")
        return self._texts[size]

    def _sqlite_rows(self, rows: Sequence[Row]) -> list[Values]:
        return [self._to_sqlite(values) for values in map(self._values, rows)]

    def _arrays(self, rows: Sequence[Row]) -> Values:
        encoded = (self._to_postgres(values) for values in map(self._values, rows))
        return tuple(map(list, zip(*encoded, strict=True)))

    def _write_rows(self, driver: sqlite3.Connection, rows: Sequence[Values]) -> None:
        if len(rows) < FEW:
            driver.executemany(self.sqlite(1), rows)
            return
        for some in _slices(rows):
            driver.execute(*self._with_room(some))

    def _with_room(self, rows: Sequence[Values]) -> tuple[str, Values]:
        """The text with room for these rows and their values; the room that is left holds noughts, never read."""
        if len(rows) == 1:
            return self.sqlite(1), rows[0]
        size = next(size for size in SIZES if size >= len(rows))
        filling = (0,) * (len(self.columns) * (size - len(rows)))
        return self.sqlite(size), (*chain.from_iterable(rows), *filling, len(rows))


class _Reader:
    """Makes dictionaries of a driver's rows."""

    def __init__(self, gives: Mapping[str, Codec]) -> None:
        self._names = tuple(gives)
        self._sqlite = [(name, codec.from_sqlite) for name, codec in gives.items() if codec.from_sqlite]
        self._postgres = [(name, codec.from_postgres) for name, codec in gives.items() if codec.from_postgres]

    def from_sqlite(self, answers: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
        return self._rows(answers, self._sqlite)

    def from_postgres(self, answers: Iterable[Iterable[Any]]) -> list[dict[str, Any]]:
        return self._rows(answers, self._postgres)

    def _rows(self, answers: Iterable[Iterable[Any]], converts: list[tuple[str, Convert]]) -> list[dict[str, Any]]:
        names = self._names
        rows = [dict(zip(names, values, strict=True)) for values in answers]
        for name, convert in converts:
            for row in rows:
                if (value := row[name]) is not None:
                    row[name] = convert(value)
        return rows


async def _ask_sqlite(connection: AsyncConnection, text: str, values: Values) -> Any:
    """A cursor; readers have connections in threads of their own."""
    if isinstance(connection, InlineAsyncConnection):
        return connection.driver.execute(text, values)
    return await connection.exec_driver_sql(text, values)


def _inline(connection: AsyncConnection) -> InlineAsyncConnection:
    return cast("InlineAsyncConnection", connection)


def _driver(connection: AsyncConnection) -> sqlite3.Connection:
    return _inline(connection).driver


def _slices(rows: Sequence[Values]) -> Iterable[Sequence[Values]]:
    largest = SIZES[-1]
    return (rows[start : start + largest] for start in range(0, len(rows), largest))


def _unnested(codecs: Iterable[Codec]) -> str:
    arrays = ", ".join(f"${number}::{codec.postgres_type}[]" for number, codec in enumerate(codecs, 1))
    return f"SELECT * FROM unnest({arrays})"  # noqa: S608 - types only


def _only(name: str) -> Callable[[Row], Values]:
    return lambda row: (row[name],)


def _encoder(converts: Sequence[Convert | None]) -> Encoder:
    placed = [(at, convert) for at, convert in enumerate(converts) if convert is not None]
    if not placed:
        return lambda values: values

    def encode(values: Values) -> Values:
        changed = list(values)
        for at, convert in placed:
            changed[at] = convert(changed[at])
        return tuple(changed)

    return encode


def _encoded(converts: Sequence[tuple[str, Convert | None]], parameters: Row) -> Values:
    return tuple(
        parameters[name] if convert is None else convert(parameters[name]) for name, convert in converts
    )  # fmt: skip


def _sqlite_parameter(kind: Codec | ListOf) -> Convert | None:
    if isinstance(kind, Codec):
        return kind.to_sqlite
    convert = kind.element.to_sqlite
    return _json_array if convert is None else lambda values: _json_array([convert(value) for value in values])


def _json_array(values: Iterable[Any]) -> str:
    return msgspec.json.encode(list(values)).decode()


def _postgres_parameter(kind: Codec | ListOf) -> Convert | None:
    return list if isinstance(kind, ListOf) else kind.to_postgres
