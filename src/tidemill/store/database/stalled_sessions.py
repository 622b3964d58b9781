"""Sessions of PostgreSQL whose process stopped in the middle of a transaction: they keep its locks until they end."""

from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.database import Database

STALLED_AFTER = timedelta(seconds=15)
"""As long as PostgreSQL itself waits for a session that is idle between two statements of a transaction."""

_END = text("""
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND application_name = 'tidemill'
        AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
        AND wait_event_type = 'Client' AND wait_event = 'ClientRead'
        AND state_change <= clock_timestamp() - CAST(:after AS interval)
""")
"""No statement of ours is that long in coming: what is sent in pieces is sent in small ones."""
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'"


async def end_stalled_sessions(database: Database, after: timedelta = STALLED_AFTER) -> int:
    """End our sessions from which PostgreSQL has waited so long for the rest of a transaction; answer how many.

    PostgreSQL ends by itself only those that are idle between two statements. A process that freezes, or a machine
    that vanishes, may also have sent the first half of one, and such a session would hold up others for ever. On
    SQLite there are no sessions, and the answer is 0.
    """
    if database.is_sqlite:
        return 0
    async with database.glance() as connection:
        ended = await connection.execute(_END, {"after": after})
        return len(ended.all())


async def wait_briefly_for_locks(connection: AsyncConnection) -> None:
    """Let this transaction fail as busy, rather than wait on, when others keep the rows that it asks for."""
    if connection.dialect.name == "postgresql":
        await connection.exec_driver_sql(_LOCK_TIMEOUT)
