"""Text search by index: the few rows that hold a text, found without looking at all of them."""

import re
from collections.abc import Mapping

from sqlalchemy import Table, text
from sqlalchemy.ext.asyncio import AsyncConnection

FEW = 1_000
"""So many rows are named to the query that follows; of a commoner text the first page is soon found by going along."""
SHORTEST = 3
"""Letters that a trigram has."""
_WILDCARDS = re.compile(r"[%_\\]")


async def few_with_text(connection: AsyncConnection, table: Table, told: Mapping[str, str]) -> list[int] | None:
    """Return the keys of rows that may hold one of the texts in its column, if they are few.

    None when there are many, when a text is too short to look up, or on PostgreSQL, whose planner uses its own index.
    Whoever asks applies the condition itself too: what is found here is a little more than what is meant.
    """
    parts = {column: _longest_part(words) for column, words in told.items()}
    if connection.dialect.name != "sqlite" or any(len(part) < SHORTEST for part in parts.values()):
        return None
    looks = [
        f"SELECT rowid FROM (SELECT rowid FROM {table.name}_text WHERE {column} LIKE :{column} LIMIT {FEW + 1})"  # noqa: S608
        for column in parts
    ]
    names = {column: f"%{part}%" for column, part in parts.items()}
    found = await connection.execute(text(" UNION ".join(looks)), names)
    keys = list(found.scalars())
    return keys if len(keys) <= FEW else None


def _longest_part(words: str) -> str:
    """The longest part of a text without signs that LIKE takes for something else."""
    return max(_WILDCARDS.split(words), key=len)
