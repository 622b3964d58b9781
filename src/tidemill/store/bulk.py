"""The statements that every page goes through: compiled once, and handed to the driver with as little ado as can be.

SQLAlchemy prepares each row of a set as if it were the only one, and each question as if it were asked for the first
time. For these statements that was dearer than the database's own work.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import Dialect, Executable
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.inline import InlineAsyncConnection

Row = Mapping[str, Any]
Slot = tuple[str, Callable[[Any], Any] | None, Any]
"""A place in the driver's tuple: the parameter's name, how its value is prepared, and its fixed value if it has one."""
LIST = re.compile(r"__\[POSTCOMPILE_(\w+?)(?:~~.*?)?\]")
"""Where SQLAlchemy leaves room for a list of values, whose number it does not know yet."""


async def write_many(connection: AsyncConnection, statement: Any, rows: Sequence[Row]) -> None:
    """Execute an INSERT or UPDATE once per row, in one call to the driver; all rows have the same keys."""
    if rows:
        text, slots = _compiled(statement, connection.dialect, tuple(rows[0]))
        await connection.exec_driver_sql(text, [_filled(row, slots) for row in rows])


async def read_all(connection: AsyncConnection, statement: Any, parameters: Row) -> list[dict[str, Any]]:
    """The rows that a SELECT answers, each by column name; on the loop's own SQLite nothing stands in between."""
    if not isinstance(connection, InlineAsyncConnection):
        return [dict(row) for row in (await connection.execute(statement, parameters)).mappings()]
    question = _asked(statement, connection.dialect)
    values = tuple(chain.from_iterable(_values(slot, parameters, question.lists) for slot in question.slots))
    lengths = tuple(len(parameters[name]) for name in question.lists)
    rows = connection.driver.execute(question.text_for(lengths), values)
    return [question.row(row) for row in rows]


class _Question(msgspec.Struct, frozen=True):
    """A SELECT as SQLite takes it, and what becomes of its answers."""

    text: str
    slots: tuple[Slot, ...]
    lists: tuple[str, ...]
    names: tuple[str, ...]
    readers: tuple[tuple[str, Callable[[Any], Any]], ...]

    def text_for(self, lengths: tuple[int, ...]) -> str:
        """The words, with room for lists of these lengths."""
        return _with_room(self.text, lengths) if lengths else self.text

    def row(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """An answer by column name, its values as the column's type has them."""
        row = dict(zip(self.names, values, strict=True))
        for name, reader in self.readers:
            row[name] = reader(row[name])
        return row


@lru_cache(maxsize=512)
def _with_room(text: str, lengths: tuple[int, ...]) -> str:
    left = iter(lengths)
    return LIST.sub(lambda _: ", ".join("?" * next(left)) or "NULL", text)


@lru_cache(maxsize=256)
def _asked(statement: Executable, dialect: Dialect) -> _Question:
    compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    text, slots = _compiled(statement, dialect, ())
    columns = compiled._result_columns  # noqa: SLF001 - as below
    readers = ((column.keyname, column.type._cached_result_processor(dialect, None)) for column in columns)  # noqa: SLF001
    return _Question(
        text,
        slots,
        tuple(LIST.findall(text)),
        tuple(column.keyname for column in columns),
        tuple((name, reader) for name, reader in readers if reader is not None),
    )


def _values(slot: Slot, parameters: Row, lists: tuple[str, ...]) -> Sequence[Any]:
    name, prepare, fixed = slot
    if name not in parameters:
        return (fixed,)
    value = parameters[name]
    if name in lists:
        return value if prepare is None else [prepare(one) for one in value]
    return (value if prepare is None else prepare(value),)


def _filled(row: Row, slots: Sequence[Slot]) -> tuple[Any, ...]:
    return tuple(
        fixed if name not in row else row[name] if prepare is None else prepare(row[name])
        for name, prepare, fixed in slots
    )


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
