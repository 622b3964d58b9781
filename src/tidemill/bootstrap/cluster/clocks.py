"""Compares this machine's clock with the database's, so that all machines mean the same by a lease."""

from collections.abc import Awaitable, Callable

from tidemill.engine.clock import ClockSkew
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import Clock
from tidemill.store.database.database import Database
from tidemill.store.database.ping import database_time

TRIES = 3
"""Of so many answers the quickest counts: it leaves the least doubt."""


def skew_measure(database: Database, clock: Clock) -> Callable[[], Awaitable[ClockSkew]] | None:
    """Return what measures our skew; None on SQLite, which goes by this machine's clock."""
    if database.is_sqlite:
        return None

    async def ask() -> ClockSkew:
        began = clock.now()
        theirs = await database_time(database)
        took = clock.now() - began
        return ClockSkew((began + took / 2 - theirs).total_seconds(), took.total_seconds() / 2)

    async def measure() -> ClockSkew:
        return min([await ask() for _ in range(TRIES)], key=lambda skew: skew.give_or_take)

    return measure


async def refuse_wrong_clock(database: Database, clock: Clock) -> None:
    """Raise Mistake if our clock and the database's differ by too much to work together."""
    measure = skew_measure(database, clock)
    if measure is not None and (fault := (await measure()).fault):
        raise Mistake(fault)
