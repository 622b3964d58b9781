"""PostgreSQL as the engine uses it: hot statements go to asyncpg itself, all others through SQLAlchemy."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from tidemill.store.database.column_types import postgres_json_or_none

SETTINGS = {
    "application_name": "tidemill",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "15s",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}
"""A process that freezes in the middle of a transaction loses it, and its locks, after so long: until then others wait.

No statement of ours runs long enough to repay being compiled first, or being shared out to processes that must be
started for it: either takes milliseconds each time.
"""
POOLED: dict[str, Any] = {
    "server_settings": {name: SETTINGS[name] for name in ("application_name", "timezone")},
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": lambda: "",
}
"""Before a pooler that lends a server's connection for one transaction, nothing outlasts a transaction: a statement
without a name ends with it, and of the settings only those are made that PgBouncer carries along (it refuses others).
"""
DRIVER = "postgresql+attentive"
KEPT_STATEMENTS = 500
"""Statements that a connection keeps prepared: more than there are."""


class AttentiveDialect(PGDialect_asyncpg):
    """SQLAlchemy's PostgreSQL on asyncpg, which hears when a connection ends and need not ask beforehand."""

    driver = "attentive"
    supports_statement_cache = True

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether the connection is still there, as far as its socket knows; to ask the server takes three answers."""
        return not dbapi_connection.driver_connection.is_closed()


registry.register("postgresql.attentive", __name__, AttentiveDialect.__name__)


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
    """A connection that can also talk to asyncpg itself, within its transaction.

    SQLAlchemy's way to the driver takes as long as the driver's own way to the server and back.
    """

    __slots__ = ()

    async def fetch(self, statement: str, parameters: Sequence[Any]) -> list[Any]:
        """The rows that a statement answers."""
        with as_sqlalchemy_says(statement):
            rows: list[Any] = await (await self._driver()).fetch(statement, *parameters)
            return rows

    async def run(self, statement: str, parameters: Sequence[Any]) -> int:
        """Execute a statement; answers how many rows it met."""
        with as_sqlalchemy_says(statement):
            status: str = await (await self._driver()).execute(statement, *parameters)
            return int(status.rpartition(" ")[2])

    async def copy(self, table: str, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert new rows by COPY; what is refused is refused as by INSERT.

        The driver looks at each value of an array, before it sends it, to see if it is an array too. Here it does not.
        """
        with as_sqlalchemy_says(table):
            await (await self._driver()).copy_records_to_table(table, records=rows, columns=names)

    async def _driver(self) -> Any:
        """The connection of asyncpg, in a transaction: SQLAlchemy would begin one with its own first statement."""
        adapted: Any = self._proxied.connection.dbapi_connection
        if adapted._transaction is None:  # noqa: SLF001 - there is no public way, so SQLAlchemy's version is capped
            await adapted._start_transaction()  # noqa: SLF001 - as above
        return adapted.driver_connection


class PostgresEngine(AsyncEngine):
    """Opens connections that can talk to asyncpg itself."""

    _connection_cls = PostgresConnection


def postgres_engine(url: URL, connections: int, *, is_pooled: bool = False, timeout: float = 10) -> AsyncEngine:
    """An engine for a PostgreSQL server, or for a pooler before one; nothing is asked of it yet.

    At most `connections` are open, a third of them for good: each lane has two writers and a claim under way.
    """
    kept = max(1, connections // 3)
    own = POOLED if is_pooled else {"server_settings": SETTINGS, "prepared_statement_cache_size": KEPT_STATEMENTS}
    made = create_async_engine(
        url.set(drivername=DRIVER),
        pool_size=kept,
        max_overflow=connections - kept,
        pool_pre_ping=True,
        json_serializer=postgres_json_or_none,
        connect_args={"timeout": timeout, **own},
    )
    return PostgresEngine(made.sync_engine)
