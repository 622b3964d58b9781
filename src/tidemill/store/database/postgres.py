"""PostgreSQL as the engine uses it: as few questions and answers to a transaction as can be.

A busy loop looks at its sockets once a turn, so that each statement waits for a turn besides its own time.
"""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, cast

import msgspec
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

SETTINGS = {
    "application_name": "tidemill",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "60s",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}
"""A process that freezes in the middle of a transaction loses it, and its locks, after a minute.

No statement of ours runs long enough to repay being compiled first, or being shared out to processes that must be
started for it: either takes milliseconds each time.
"""
DRIVER = "postgresql+attentive"
KEPT_STATEMENTS = 500
"""Statements that a connection keeps prepared: more than there are, what is sent together included."""
_PLACE = re.compile(r"\$(\d+)")


class AttentiveDialect(PGDialect_asyncpg):
    """SQLAlchemy's PostgreSQL on asyncpg, which hears when a connection ends and need not ask beforehand."""

    driver = "attentive"
    supports_statement_cache = True

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether the connection is still there, as far as its socket knows; to ask the server takes three answers."""
        return not dbapi_connection.driver_connection.is_closed()


registry.register("postgresql.attentive", __name__, AttentiveDialect.__name__)


class Write(msgspec.Struct, frozen=True):
    """A statement whose parameters are whole columns, and the table that it writes to."""

    table: str
    statement: str
    columns: tuple[list[Any], ...]


class as_sqlalchemy_says:  # noqa: N801 - reads as a word in a with statement
    """Where SQLAlchemy stands aside, its errors do too: the driver's own are told as SQLAlchemy would tell them."""

    def __init__(self, statement: str) -> None:
        """What was asked when it went wrong."""
        self._statement = statement

    def __enter__(self) -> None:
        """Nothing to set up."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _traceback: object) -> None:
        """Translate what is the driver's own; what the operating system or Python says is left as it is."""
        if isinstance(error, Exception) and not isinstance(error, OSError | UnicodeEncodeError | OverflowError):
            raise DBAPIError(self._statement, None, error) from error


class PostgresConnection(AsyncConnection):
    """A connection whose last writes wait for the commit, and then travel together."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Nothing waits yet."""
        super().__init__(*arguments, **named)
        self._waiting: list[Write] = []

    def defer_to_commit(self, write: Write) -> None:
        """Leave a write to the end of this transaction; if it is refused, so is the commit."""
        self._waiting.append(write)

    async def commit(self) -> None:
        """Send what was put off, and commit."""
        await self.send()
        await super().commit()

    async def fetch(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        """What the driver itself answers to a question, within this connection's transaction.

        SQLAlchemy's way to the driver takes as long as the driver's own way to the server and back.
        """
        adapted: Any = self._proxied.connection.dbapi_connection
        with as_sqlalchemy_says(statement):
            if adapted._transaction is None:  # noqa: SLF001 - it begins with the first statement; there is no public way
                await adapted._start_transaction()  # noqa: SLF001 - as above
            rows: list[Any] = await adapted.driver_connection.fetch(statement, *parameters)
            return rows

    async def copy(self, table: str, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows by COPY, within this connection's transaction, which has begun."""
        driver: Any = (await self.get_raw_connection()).driver_connection
        with as_sqlalchemy_says(table):
            await driver.copy_records_to_table(table, records=rows, columns=names)

    async def send(self) -> None:
        """Send what was put off, in one statement as far as no table is written to twice."""
        waiting, self._waiting = self._waiting, []
        for some in _apart(waiting):
            text = as_one(tuple((write.statement, len(write.columns)) for write in some))
            await self.exec_driver_sql(text, tuple(column for write in some for column in write.columns))


class PostgresEngine(AsyncEngine):
    """Opens connections that can put writes off."""

    _connection_cls = PostgresConnection

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """A transaction; what was put off is sent before it is committed."""
        async with super().begin() as connection:
            yield connection
            await cast("PostgresConnection", connection).send()


def postgres_engine(url: URL, pool_size: int) -> AsyncEngine:
    """An engine for a PostgreSQL server; nothing is asked of it yet."""
    made = create_async_engine(
        url.set(drivername=DRIVER),
        pool_size=pool_size,
        max_overflow=2 * pool_size,  # each lane has two writers and a claim under way
        pool_pre_ping=True,
        connect_args={
            "timeout": 10,
            "server_settings": SETTINGS,
            "prepared_statement_cache_size": KEPT_STATEMENTS,
        },
    )
    return PostgresEngine(made.sync_engine)


@lru_cache(maxsize=256)
def as_one(statements: tuple[tuple[str, int], ...]) -> str:
    """One statement that does what these do, each with so many parameters; all see what was there before them."""
    numbered = []
    before = 0
    for text, parameters in statements:
        numbered.append(_PLACE.sub(lambda found, before=before: f"${int(found[1]) + before}", text))  # type: ignore[misc]
        before += parameters
    *others, last = numbered
    return f"WITH {', '.join(f'w{place} AS ({text})' for place, text in enumerate(others))} {last}" if others else last


def _apart(writes: Sequence[Write]) -> Iterator[list[Write]]:
    """The writes in order, in lists in which each table occurs once: one statement may change a row only once."""
    some: list[Write] = []
    for write in writes:
        if any(write.table == other.table for other in some):
            yield some
            some = []
        some.append(write)
    if some:
        yield some
