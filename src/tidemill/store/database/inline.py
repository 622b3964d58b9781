"""SQLite on the event loop's own thread: short statements where they are asked for, waits elsewhere.

A statement that runs in a thread of its own gives the interpreter away at each row and gets it back when the busy
loop lets go, milliseconds later; a group of 500 rows then takes seconds. Here a statement of microseconds runs at
once, with nothing between SQLAlchemy and SQLite. What really waits goes to a thread: the commit's write to disk, and
a lock that another process holds.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import Pool, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import URL, Engine
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from tidemill.store.database.outages import is_locked
from tidemill.store.database.wal import WalCheckpointer

DRIVER = "sqlite+inline"
PATIENCE_MILLISECONDS = 10_000
"""How long to wait for another process to let go of the database."""
MOMENT_MILLISECONDS = 250
"""How long somebody who no longer wants to wait has to wait all the same."""


class InlineConnection(sqlite3.Connection):
    """SQLite's own connection; beginning and committing may wait, and then others have the loop."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Open the database; nothing is put off yet."""
        super().__init__(*arguments, **options)
        self.log: WalCheckpointer | None = None
        self._deferred: list[Callable[[sqlite3.Connection], None]] = []
        self._rows_logged = 0

    async def begin(self) -> None:
        """Start a write transaction; when another process is writing, wait for it in a thread, a moment at a time."""
        self._deferred.clear()
        left = PATIENCE_MILLISECONDS
        wait = 0
        while True:
            try:
                await self._begin_within(wait)
            except sqlite3.OperationalError as error:
                if not is_locked(error) or left <= 0:
                    raise
                wait = min(left, MOMENT_MILLISECONDS)
                left -= wait
            else:
                return

    async def _begin_within(self, milliseconds: int) -> None:
        if not milliseconds:
            self.execute("BEGIN IMMEDIATE")
            return
        try:
            await run_in_thread(lambda: self._say_within(milliseconds, "BEGIN IMMEDIATE"))
        except asyncio.CancelledError:
            if self.in_transaction:  # it came when nobody wanted it any more
                self.rollback()
            raise

    async def say_patiently(self, *statements: str) -> None:
        """Say statements that need the database to themselves, in a thread, and wait for whoever has it."""
        await run_in_thread(lambda: self._say_within(PATIENCE_MILLISECONDS, *statements))

    def _say_within(self, milliseconds: int, *statements: str) -> None:
        self.execute(f"PRAGMA busy_timeout={milliseconds}")
        try:
            for statement in statements:
                self.execute(statement)
        finally:
            self.execute("PRAGMA busy_timeout=0")

    def defer_to_commit(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Leave a part of this transaction to the thread that commits it; if it fails, so does the commit."""
        self._deferred.append(work)

    async def commit_aside(self) -> None:
        """Commit; the work put off and the wait for the disk are a thread's, so that the loop goes on serving."""
        if self.in_transaction:
            await run_in_thread(self._finish)

    def _finish(self) -> None:
        for work in self._deferred:
            work(self)
        self._deferred.clear()
        self.commit()
        if self.log is not None:
            before, self._rows_logged = self._rows_logged, self.total_changes
            self.log.grew(self._rows_logged - before, self)


class InlineDialect(SQLiteDialect_pysqlite):
    """SQLAlchemy's SQLite, for connections that belong to the loop."""

    driver = "inline"
    is_async = True
    has_terminate = True
    supports_statement_cache = True

    @classmethod
    def get_pool_class(cls, url: URL) -> type[Pool]:  # noqa: ARG003 - the same for each
        """A pool that belongs to the loop too."""
        return AsyncAdaptedQueuePool

    def create_connect_args(self, url: URL) -> Any:
        """No thread owns a connection, none waits inside SQLite, and transactions begin when we say so."""
        arguments, options = super().create_connect_args(url)
        own = {"factory": InlineConnection, "check_same_thread": False, "timeout": 0, "isolation_level": None}
        return arguments, {**options, **own}

    def do_commit(self, dbapi_connection: Any) -> None:
        """Leave it to whoever commits, and can wait: SQLAlchemy cannot from here."""

    def do_terminate(self, dbapi_connection: Any) -> None:
        """Close: there is nothing to wait for."""
        dbapi_connection.close()


registry.register("sqlite.inline", __name__, InlineDialect.__name__)


class InlineAsyncConnection(AsyncConnection):
    """What the store asks its questions through. Without a transaction, each statement stands for itself."""

    __slots__ = ()

    async def start(self, is_ctxmanager: bool = False) -> AsyncConnection:  # noqa: FBT001, FBT002 - SQLAlchemy's words
        """Take a connection from the pool, or make one; only to make one, others may have to be waited for."""
        if not self.sync_engine.pool.checkedin():  # type: ignore[attr-defined]  # a queue has it
            return await super().start(is_ctxmanager)
        self.sync_connection = self._assign_proxied(self.sync_engine.connect())
        return self

    async def execute(self, statement: Any, parameters: Any = None, *, execution_options: Any = None) -> Any:
        """Execute a statement here and now."""
        return self._proxied.execute(statement, parameters, execution_options=execution_options)

    async def exec_driver_sql(self, statement: str, parameters: Any = None, execution_options: Any = None) -> Any:
        """Execute a statement in SQLite's own words."""
        return self._proxied.exec_driver_sql(statement, parameters, execution_options)

    async def execution_options(self, **options: Any) -> AsyncConnection:
        """Set options for what follows."""
        self._proxied.execution_options(**options)
        return self

    async def commit(self) -> None:
        """Commit, and wait for the disk."""
        self._proxied.commit()
        await self.driver.commit_aside()

    async def begin_writing(self) -> None:
        """Start a transaction that may write: no other writer comes between its first statement and its end."""
        await self.driver.begin()
        self._proxied.begin()

    async def close(self) -> None:
        """Undo what was not committed, and give the connection back."""
        self._proxied.close()

    async def __aexit__(self, *_: object) -> None:
        """Close at once: nothing here can be interrupted half-way."""
        self._proxied.close()

    @property
    def driver(self) -> InlineConnection:
        """SQLite's own connection."""
        driver: InlineConnection = self._proxied.connection.driver_connection  # type: ignore[assignment]
        return driver


class InlineEngine(AsyncEngine):
    """Opens connections that work on the loop's own thread."""

    _connection_cls = InlineAsyncConnection

    def __init__(self, sync_engine: Engine, log: WalCheckpointer | None = None) -> None:
        """`log` is told of every commit, and closed with the engine."""
        super().__init__(sync_engine)
        self._log = log
        event.listen(sync_engine, "connect", self._equip)

    def _equip(self, connection: InlineConnection, _record: object) -> None:
        connection.log = self._log

    async def dispose(self, close: bool = True) -> None:  # noqa: FBT001, FBT002 - SQLAlchemy's words
        """Let go of every connection, once nobody brings the log in any more."""
        if self._log is not None:
            await run_in_thread(self._log.close)
        await super().dispose(close)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """A write transaction; what is not committed when it is closed is undone."""
        connection = InlineAsyncConnection(self)
        async with connection:
            await connection.begin_writing()
            yield connection
            await connection.commit()


async def run_in_thread(work: Callable[[], None]) -> None:
    """Do something in a thread. Cancelling waits for its end: until then the connection is the thread's, not ours.

    Its end wakes the waiter at once; by way of `asyncio.wait`, a busy loop would let it wait for one more turn.
    """
    loop = asyncio.get_running_loop()
    errand = _ThreadTask(work, loop)
    loop.run_in_executor(None, errand.run)
    cancelled: asyncio.CancelledError | None = None
    while not errand.over:
        try:
            await errand.wait()
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    if errand.trouble is not None:
        raise errand.trouble


class _ThreadTask:
    """Something done in a thread; whoever waits may stop waiting and begin again."""

    def __init__(self, work: Callable[[], None], loop: asyncio.AbstractEventLoop) -> None:
        self.over = False
        self.trouble: BaseException | None = None
        self._work = work
        self._loop = loop
        self._waiter = loop.create_future()

    def run(self) -> None:
        """In the thread: do it, and tell the loop."""
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            self.trouble = error
        self._loop.call_soon_threadsafe(self._told)

    async def wait(self) -> None:
        if self._waiter.cancelled():
            self._waiter = self._loop.create_future()
        await self._waiter

    def _told(self) -> None:
        self.over = True
        if not self._waiter.done():
            self._waiter.set_result(None)
