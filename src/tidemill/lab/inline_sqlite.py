"""SQLite without threads: for virtual time, where an answer from another thread would come at a random moment."""

import asyncio
import sqlite3
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import aiosqlite
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

_ROWS_AT_ONCE = 64


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
    """An aiosqlite connection that does its work where it is asked to; its thread is never started.

    A statement never yields to the loop, so a transaction that awaits nothing but this connection is one step.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        """Connect by `connector`, once awaited."""
        super().__init__(connector, _ROWS_AT_ONCE)
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

    async def close(self) -> None:
        """Close the database."""
        self.stop()

    def stop(self) -> None:
        """Close the database; there is no thread to stop."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def inline_sqlite_engine(path: Path | str, **options: Any) -> AsyncEngine:
    """A SQLAlchemy engine on the SQLite file at `path` (or `:memory:`) that uses no thread.

    `options` go to `create_async_engine`. A lock held by another connection of this process fails at once: there is
    nobody else who could let go of it while we wait.
    """

    async def connection() -> InlineConnection:
        return await InlineConnection(lambda: sqlite3.connect(str(path), timeout=0))

    return create_async_engine(f"sqlite+aiosqlite:///{path}", async_creator=connection, **options)
