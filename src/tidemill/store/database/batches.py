"""Many rows, a portion at a time: what a million of them cost in memory is what a thousand cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Executable
from sqlalchemy.ext.asyncio import AsyncConnection

Item = TypeVar("Item")

AT_ONCE = 1_000


def portions(items: Iterable[Item], size: int = AT_ONCE) -> Iterator[list[Item]]:
    """The items in lists of `size`; the last may be shorter, and none is empty."""
    left = iter(items)
    while some := list(islice(left, size)):
        yield some


async def write_each(connection: AsyncConnection, statement: Executable, rows: Sequence[Mapping[str, Any]]) -> None:
    """Execute a statement of SQLAlchemy's for each row; no rows, no statement."""
    if rows:
        await connection.execute(statement, rows)
