"""How the database itself does: whether it answers, how far its tables are, and what time it thinks it is."""

from datetime import datetime

import msgspec
from sqlalchemy import func, select

from tidemill.store.database.column_types import Timestamp
from tidemill.store.database.database import Database
from tidemill.store.database.migrate import current, newest


class DatabaseHealth(msgspec.Struct, frozen=True):
    """The database's step, the step that this version needs, and its own clock where it has one."""

    kind: str
    stands_at: str | None
    needs: str
    time: datetime | None


class DatabasePing:
    """Asks a database how it does."""

    def __init__(self, database: Database) -> None:
        """Ask one database."""
        self._database = database

    async def check(self) -> DatabaseHealth:
        """One look; raises `StoreError` when the database does not answer."""
        time = None
        if not self._database.is_sqlite:  # SQLite has no clock of its own
            async with self._database.read() as connection:
                time = (await connection.execute(select(func.now(type_=Timestamp())))).scalar()
        return DatabaseHealth(self._database.dialect, await current(self._database), newest(), time)
