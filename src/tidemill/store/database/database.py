"""The database at hand: how it is opened, and how transactions start."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from tidemill.pipeline.ports import StoreError
from tidemill.store.database.outages import translate
from tidemill.store.database.postgres import postgres_engine
from tidemill.store.database.sqlite import lasting_engine, threaded_engine

READERS = 5
"""Connections to a SQLite file that read beside the writer and are kept open."""
REPLICA_RESTS_SECONDS = 5.0
REPLICA_TIMEOUT = 2.0
"""Readers wait no longer than this for a replica that does not answer, and then not again for a while."""


class Database:
    """One database with one place that begins write transactions.

    On SQLite the writers of this process take turns here, instead of waiting for each other inside the driver.
    One that is not `lasting` need not outlive its process, and waits for no disk.
    """

    lasting = True

    def __init__(
        self,
        engine: AsyncEngine,
        readers: AsyncEngine | None = None,
        *,
        notifies: bool = False,
        replica: AsyncEngine | None = None,
    ) -> None:
        """Made by `open_database`; `readers` serve what may take long, where that is another engine.

        `replica` is a copy of the database that serves what readers ask for, a moment behind.
        `notifies` says whether a connection can be kept to listen on: SQLite has nothing to listen to, and a pooler
        lends none for long.
        """
        self.engine = engine
        self.notifies = notifies
        self._readers = readers or engine
        self.replica = replica
        self._replica_rests_until = 0.0
        self.dialect = engine.dialect.name
        self._turn = asyncio.Lock() if self.is_sqlite else nullcontext()

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded database."""
        return self.dialect == "sqlite"

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A write transaction: all of it happens, or none of it."""
        async with self._turn:
            with explained():
                async with self.engine.begin() as connection:
                    yield connection

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection to read from, however long it takes; nothing written through it stays."""
        with explained():
            async with self._readers.connect() as connection:
                await connection.execution_options(tidemill_read=True)
                yield connection

    @asynccontextmanager
    async def published(self) -> AsyncIterator[AsyncConnection]:
        """A connection to read what is published, from the replica if there is one: it may be a moment behind.

        A replica that is away is left alone for a while, and the database itself answers.
        """
        connection = await self._replica_connection()
        if connection is None:
            async with self.read() as own:
                yield own
            return
        try:
            with explained():
                yield connection
        finally:
            await connection.close()

    async def _replica_connection(self) -> AsyncConnection | None:
        now = asyncio.get_running_loop().time()
        if self.replica is None or now < self._replica_rests_until:
            return None
        connection = self.replica.connect()
        try:
            await connection.start()
            await connection.exec_driver_sql("SELECT 1")  # a kept connection may have ended unheard
        except (SQLAlchemyError, OSError):
            await connection.close()
            self._replica_rests_until = now + REPLICA_RESTS_SECONDS
            return None
        return connection

    @asynccontextmanager
    async def glance(self) -> AsyncIterator[AsyncConnection]:
        """A connection for the engine's own quick questions: answered at once, on the loop's own thread on SQLite."""
        with explained():
            async with self.engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def between_writes(self) -> AsyncIterator[AsyncConnection]:
        """A connection without a transaction, while no writer of this process has one on SQLite: for upkeep."""
        async with self._turn:
            with explained():
                async with self.engine.connect() as connection:
                    yield connection

    def insert(self, table: Table) -> Any:
        """An INSERT that can say ON CONFLICT, in the database's own dialect."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    async def close(self) -> None:
        """Let go of every connection."""
        await self.engine.dispose()
        if self._readers is not self.engine:
            await self._readers.dispose()
        if self.replica is not None:
            await self.replica.dispose()


class explained:  # noqa: N801 - reads as a word in a with statement
    """Turns driver errors into `StoreLost` or `StoreError` with words for a person."""

    def __enter__(self) -> None:
        """Nothing to set up."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _traceback: object) -> None:
        """Translate, keeping the original as the cause."""
        if error is not None and (isinstance(error, _TRANSLATED) or type(error).__module__.startswith("asyncpg.")):
            raise translate(error) from error


_TRANSLATED = (SQLAlchemyError, OSError, sqlite3.Error, UnicodeEncodeError, OverflowError)


def _parsed(url: str) -> URL:
    """The URL in its parts; what it says is not repeated, because it may hold a password."""
    try:
        parsed = make_url(url)
        known = parsed.get_backend_name() in {"sqlite", "postgresql"}
    except (ArgumentError, ValueError) as error:
        raise StoreError(_BAD_URL) from error
    if not known:
        raise StoreError(_BAD_URL)
    return parsed


_BAD_URL = "the database's address must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"


def open_database(url: str, *, connections: int = 15, is_pooled: bool = False, replica: str | None = None) -> Database:
    """Open the database that `url` names, with so many connections at most; nothing is asked of it yet.

    `replica` is the address of a copy that readers may ask.
    """
    parsed = _parsed(url)
    if parsed.get_backend_name() == "sqlite":
        if parsed.database in {None, "", ":memory:"}:
            msg = "an in-memory database would be forgotten at once; name a file, as in sqlite:///tidemill.db"
            raise StoreError(msg)
        return Database(lasting_engine(parsed), threaded_engine(parsed, READERS))
    copy = None if replica is None else _parsed(replica)
    return Database(
        postgres_engine(parsed, connections, is_pooled=is_pooled),
        notifies=not is_pooled,
        replica=None if copy is None else postgres_engine(copy, connections, timeout=REPLICA_TIMEOUT),
    )
