"""The embedded database: one inline engine for the engine's own short work, threads beside it for readers."""

from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from tidemill.store.database.inline import DRIVER, InlineEngine
from tidemill.store.database.wal import WalCheckpointer

PRAGMAS = (
    "PRAGMA page_size=4096",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA wal_autocheckpoint=16000",
)
"""Durable on every commit (a group of jobs each), readers never blocked.

A page's records fill some 60 KB, so rarer checkpoints save writes. The writer's are made by `WalCheckpointer`, and by
this number
only if it cannot. Database pages of 8 KB would be a little cheaper for a new file and dearer for a large one, in which
sixteen new events are sixteen pages of each index.
"""
WRITER_PRAGMAS = (*PRAGMAS, "PRAGMA cache_size=-10240")
FLEETING_PRAGMAS = (
    *WRITER_PRAGMAS, "PRAGMA synchronous=OFF", "PRAGMA cache_size=-131072", "PRAGMA mmap_size=1073741824",
)  # fmt: skip
READER_PRAGMAS = (*PRAGMAS, "PRAGMA cache_size=-8192", "PRAGMA busy_timeout=10000")


def lasting_engine(url: URL) -> AsyncEngine:
    """An inline engine for a database that is to last; its log is brought in beside the commits."""
    return inline_engine(url, WRITER_PRAGMAS, WalCheckpointer(str(url.database)))


def inline_engine(url: URL, pragmas: tuple[str, ...], log: WalCheckpointer | None = None) -> AsyncEngine:
    """Works on the loop's own thread, on as many connections as are asked for at once: a glance waits for nobody.

    The connection that was used last is used next. Taken in turns, each would find that the other had written, and
    forget every page that it had read.
    """
    opened = create_engine(url.set(drivername=DRIVER), pool_size=2, max_overflow=-1, pool_use_lifo=True)
    engine = InlineEngine(opened, log)
    _prepare(engine, pragmas)
    return engine


def fleeting_engine(file: Path) -> AsyncEngine:
    """An inline engine that asks nothing of the disk: for a database that need not outlive its process."""
    return inline_engine(make_url(f"sqlite:///{file}"), FLEETING_PRAGMAS)


def threaded_engine(url: URL, pool_size: int) -> AsyncEngine:
    """Works in threads: for readers whose questions may take long."""
    engine = create_async_engine(url.set(drivername="sqlite+aiosqlite"), pool_size=pool_size)
    _prepare(engine, READER_PRAGMAS)
    _begin_by_hand(engine)
    return engine


def _prepare(engine: AsyncEngine, pragmas: tuple[str, ...]) -> None:
    """Set every new connection up."""

    @event.listens_for(engine.sync_engine, "connect")
    def _connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()


def _begin_by_hand(engine: AsyncEngine) -> None:
    """Make write transactions take their lock at the start, and reading ones see one state of things.

    A transaction that first reads and then writes would otherwise fail half-way when another writer came between.
    """

    @event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: Any) -> None:
        is_read = connection.get_execution_options().get("tidemill_read")
        connection.exec_driver_sql("BEGIN" if is_read else "BEGIN IMMEDIATE")
