"""Homes are written by one transaction at a time, so that two processes never make two rows of one home (L4).

Whether a home is new is asked before it is inserted, and no unique key could answer that for likeness. SQLite has one
writer anyway. On PostgreSQL a lock that ends with its transaction makes the second wait for the first, and then see
what it wrote: no home is doubled, no sighting collides, and no two batches wait for each other's rows.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_ALONE = text("SELECT pg_advisory_xact_lock(7461063)")


async def alone(connection: AsyncConnection) -> None:
    """Wait until no other transaction writes homes; ends with this one."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_ALONE)
