"""How the database itself does: whether it answers, how far its tables are, and what time it thinks it is."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import func, select, text

from tidemill.store.database.column_types import Timestamp
from tidemill.store.database.database import Database, explained
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


_TIME = select(func.clock_timestamp(type_=Timestamp()))


async def database_time(database: Database) -> datetime:
    """What the server's clock shows; SQLite has none of its own."""
    async with database.glance() as connection:
        moment: datetime = (await connection.execute(_TIME)).scalar_one()
        return moment


_AGE = text(
    "SELECT CASE WHEN pg_is_in_recovery()"
    " THEN extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) ELSE 0 END"
)


async def replica_age(database: Database) -> float | None:
    """How many seconds behind the replica is at most; None without one. Raises StoreError when it does not answer.

    Heartbeats of workers reach it every few seconds, so that an age of more means that nothing does.
    """
    if database.replica is None:
        return None
    with explained():
        async with database.replica.connect() as connection:
            age = (await connection.execute(_AGE)).scalar()
            return 0.0 if age is None else round(float(age), 1)


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
            time = await database_time(self._database)
        plugins = await plugin_status(self._database, self._chains)
        return DatabaseHealth(self._database.dialect, await current(self._database), newest(), time, plugins)
