"""Work that one transaction at a time may do, because what it finds decides what it writes.

Whether a home is new, or which events make one card, is asked before it is written, and no unique key could answer
it. SQLite has one writer anyway. On PostgreSQL a lock that ends with its transaction makes the second wait for the
first, and then see what it wrote: nothing is doubled, nothing collides, and no two wait for each other's rows.
"""

from enum import IntEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection


class ExclusiveLock(IntEnum):
    """What is done by one at a time; the number is the lock's."""

    HOMES = 7461063
    CARDS = 7461064


_ALONE = text("SELECT pg_advisory_xact_lock(:turn)")


async def alone(connection: AsyncConnection, turn: ExclusiveLock) -> None:
    """Wait until no other transaction does this work; the turn ends with this one."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_ALONE, {"turn": int(turn)})
