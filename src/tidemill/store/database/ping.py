"""How the database itself does: whether it answers, how far its tables are, and what time it thinks it is."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import func, select

from tidemill.store.database.column_types import Timestamp
from tidemill.store.database.database import Database
from tidemill.store.database.migrate import ChainStatus, MigrationChain, current, newest, plugin_status


class DatabaseHealth(msgspec.Struct, frozen=True):
    """The database's step, the step that this version needs, and its own clock where it has one.

    `plugins` says how far the tables of verticals are that packages bring or once brought.
    """

    kind: str
    stands_at: str | None
    needs: str
    time: datetime | None
    plugins: Sequence[ChainStatus] = ()

    @property
    def is_current(self) -> bool:
        """Whether all tables are those of what is installed."""
        return self.stands_at == self.needs and all(
            each.needs is None or each.stands_at == each.needs for each in self.plugins
        )


class DatabasePing:
    """Asks a database how it does."""

    def __init__(self, database: Database, chains: Sequence[MigrationChain] = ()) -> None:
        """Ask one database; `chains` are the migrations of installed packages."""
        self._database = database
        self._chains = chains

    async def check(self) -> DatabaseHealth:
        """One look; raises `StoreError` when the database does not answer."""
        time = None
        if not self._database.is_sqlite:  # SQLite has no clock of its own
            async with self._database.read() as connection:
                time = (await connection.execute(select(func.now(type_=Timestamp())))).scalar()
        plugins = await plugin_status(self._database, self._chains)
        return DatabaseHealth(self._database.dialect, await current(self._database), newest(), time, plugins)
