"""Counting rows no further than anybody wants to know."""

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection


async def bounded_count(connection: AsyncConnection, query: Select[Any], most: int) -> int:
    """Return how many rows a query has; at most one more than `most` is counted, however long the list is."""
    counted = query.limit(most + 1).subquery()
    return int((await connection.execute(select(func.count()).select_from(counted))).scalar_one())
