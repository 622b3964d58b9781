"""SQLite on the event loop's own thread: short statements where they are asked for, waits elsewhere.

A statement that runs in a thread of its own gives the interpreter away at each row and gets it back when the busy
loop lets go, milliseconds later; a group of 500 rows then takes seconds. Here a statement of microseconds runs at
once. What really waits goes to a thread: the commit's write to disk, and a lock that another process holds.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Generator
from typing import Any

import aiosqlite
from sqlalchemy.engine import URL

ROWS_AT_ONCE = 64
PATIENCE_MILLISECONDS = 10_000
"""How long to wait for another process to let go of the database."""
MOMENT_MILLISECONDS = 250
"""How long somebody who no longer wants to wait has to wait all the same."""


class _InlineQueue:
    """Takes the place of the queue to a connection's thread, for the callers that put work there by themselves."""

    def put_nowait(self, work: tuple["asyncio.Future[Any] | None", Callable[[], Any]]) -> None:
        future, function = work
        try:
            result = function()
        except Exception as error:
            if future is None:
                raise
            future.set_exception(error)
        else:
            if future is not None:
                future.set_result(result)


class InlineConnection(aiosqlite.Connection):
    """An aiosqlite connection that does its work where it is asked to; its own thread is never started."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        """Connect by `connector`, once awaited."""
        super().__init__(connector, ROWS_AT_ONCE)
        self._tx = _InlineQueue()  # type: ignore[assignment]

    def __await__(self) -> Generator[Any, None, "InlineConnection"]:
        """Connect, here and now."""
        return self._connected().__await__()

    async def _connected(self) -> "InlineConnection":
        self._connection = self._connector()
        return self

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self._connection is None:
            msg = "no active connection"
            raise ValueError(msg)
        return fn(*args, **kwargs)

    async def begin(self) -> None:
        """Start a write transaction; when another process is writing, wait for it in a thread, a moment at a time."""
        left = PATIENCE_MILLISECONDS
        wait = 0
        while True:
            try:
                await self._begin_within(wait)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or left <= 0:
                    raise
                wait = min(left, MOMENT_MILLISECONDS)
                left -= wait
            else:
                return

    async def _begin_within(self, milliseconds: int) -> None:
        if not milliseconds:
            await self._execute(self._conn.execute, "BEGIN IMMEDIATE")
            return
        try:
            await seen_through(lambda: self._begin_waiting(milliseconds))
        except asyncio.CancelledError:
            if self._conn.in_transaction:  # it came when nobody wanted it any more
                self._conn.rollback()
            raise

    def _begin_waiting(self, milliseconds: int) -> None:
        self._conn.execute(f"PRAGMA busy_timeout={milliseconds}")
        try:
            self._conn.execute("BEGIN IMMEDIATE")
        finally:
            self._conn.execute("PRAGMA busy_timeout=0")

    async def commit(self) -> None:
        """Commit; the wait for the disk is a thread's, so that the loop goes on serving."""
        if self._conn.in_transaction:
            await seen_through(self._conn.commit)

    async def close(self) -> None:
        """Close the database."""
        self.stop()

    def stop(self) -> None:
        """Close the database; there is no thread to stop."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


async def seen_through(work: Callable[[], None]) -> None:
    """Do something in a thread. Cancelling waits for its end: until then the connection is the thread's, not ours."""
    waiting = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled: asyncio.CancelledError | None = None
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError as error:
            cancelled = error
    trouble = waiting.exception()
    if cancelled is not None:
        raise cancelled
    if trouble is not None:
        raise trouble


def inline_creator(url: URL) -> Callable[[], Any]:
    """Makes connections to the SQLite file that `url` names, for an engine's `async_creator`."""
    arguments, given = url.get_dialect()().create_connect_args(url)
    options: dict[str, Any] = {**given, "check_same_thread": False, "timeout": 0}

    async def connect() -> InlineConnection:
        return await InlineConnection(lambda: _connect(arguments[0], options))

    return connect


def _connect(file: str, options: dict[str, Any]) -> sqlite3.Connection:
    connection: sqlite3.Connection = sqlite3.connect(file, **options)
    return connection
