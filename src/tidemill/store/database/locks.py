"""Work that one transaction at a time may do, because what it finds decides what it writes.

Whether a record is new, or which records make one, is asked before it is written, and no unique key could answer it.
SQLite has one writer anyway. On PostgreSQL a lock that ends with its transaction makes the second wait for the first,
and then see what it wrote: nothing is doubled, nothing collides, and no two wait for each other's rows.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_LOCK = text("SELECT pg_advisory_xact_lock(:key)")


async def lock_exclusively(connection: AsyncConnection, key: int) -> None:
    """Wait until no other transaction holds the lock with this key; it is held until this transaction ends."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_LOCK, {"key": key})
