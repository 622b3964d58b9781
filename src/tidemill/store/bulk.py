"""Many rows through one statement: compiled once, the rows handed to the driver as tuples.

SQLAlchemy prepares each row of a set as if it were the only one. For the few statements that every page goes
through, that was dearer than the database's own work.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Dialect, Executable
from sqlalchemy.ext.asyncio import AsyncConnection

Row = Mapping[str, Any]
Slot = tuple[str, Callable[[Any], Any] | None, Any]
"""A place in the driver's tuple: the parameter's name, how its value is prepared, and its fixed value if it has one."""


async def write_many(connection: AsyncConnection, statement: Any, rows: Sequence[Row]) -> None:
    """Execute an INSERT or UPDATE once per row, in one call to the driver; all rows have the same keys."""
    if rows:
        text, slots = _compiled(statement, connection.dialect, tuple(rows[0]))
        await connection.exec_driver_sql(text, [_filled(row, slots) for row in rows])


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
