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


class Database:
    """One database with one place that begins write transactions.

    On SQLite the writers of this process take turns here, instead of waiting for each other inside the driver.
    One that is not `lasting` need not outlive its process, and waits for no disk.
    """

    lasting = True

    def __init__(self, engine: AsyncEngine, readers: AsyncEngine | None = None) -> None:
        """Made by `open_database`; `readers` serve what may take long, where that is another engine."""
        self.engine = engine
        self._readers = readers or engine
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


def open_database(url: str, *, pool_size: int = 5) -> Database:
    """Open the database that `url` names; nothing is asked of it yet."""
    parsed = _parsed(url)
    if parsed.get_backend_name() == "sqlite":
        if parsed.database in {None, "", ":memory:"}:
            msg = "an in-memory database would be forgotten at once; name a file, as in sqlite:///tidemill.db"
            raise StoreError(msg)
        return Database(lasting_engine(parsed), threaded_engine(parsed, pool_size))
    return Database(postgres_engine(parsed, pool_size))
