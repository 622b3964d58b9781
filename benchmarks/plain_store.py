"""Where Scrapy's pipeline and the bare script put pages and events: two tables, one `executemany` each per batch."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import asyncpg

from benchmarks.plain_reading import EVENT_COLUMNS, EventRow

BATCH = 100
"""Pages in one transaction; more gained nothing."""

PageRow = tuple[str, int, str, bytes]
ProductRow = tuple[str, str, str, str, int, str, str]
"""Address, article number, title, brand, cents, currency and availability."""

_TABLES = """
CREATE TABLE pages (url TEXT PRIMARY KEY, status INTEGER, fetched_at TEXT, body {blob});
CREATE TABLE events (identity TEXT PRIMARY KEY, title TEXT, starts TEXT, ends TEXT, description TEXT, venue TEXT,
    city TEXT, country TEXT, latitude DOUBLE PRECISION, longitude DOUBLE PRECISION, url TEXT, image TEXT, status TEXT,
    organizer TEXT, fingerprint TEXT, page_url TEXT);
CREATE TABLE products (url TEXT PRIMARY KEY, sku TEXT, title TEXT, brand TEXT, cents INTEGER, currency TEXT,
    availability TEXT);
"""
_SET = ", ".join(f"{name} = excluded.{name}" for name in EVENT_COLUMNS[1:])
_PAGES = "INSERT INTO pages VALUES ({marks}) ON CONFLICT (url) DO UPDATE SET body = excluded.body"
_EVENTS = f"INSERT INTO events VALUES ({{marks}}) ON CONFLICT (identity) DO UPDATE SET {_SET}"  # noqa: S608


def page_row(url: str, status: int, body: bytes) -> PageRow:
    """A page as it came, with the moment."""
    return url, status, datetime.now(UTC).isoformat(), body  # noqa: TID251 - the contenders know no other clock


class SqliteStore:
    """A file with a write-ahead log, synchronised at checkpoints only: what a careful script would choose."""

    def __init__(self, file: str) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-65536", "wal_autocheckpoint=4000"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.executescript(_TABLES.format(blob="BLOB"))
        self._pages: list[PageRow] = []
        self._events: list[EventRow] = []
        self._products: list[ProductRow] = []

    def add(self, page: PageRow, events: list[EventRow], products: Sequence[ProductRow] = ()) -> None:
        """Keep a page and what stands on it, with the next batch."""
        self._pages.append(page)
        self._events += events
        self._products += products
        if len(self._pages) >= BATCH:
            self.flush()

    def add_event(self, event: EventRow) -> None:
        """Keep one event; its page follows, and fills the batch."""
        self._events.append(event)

    def flush(self) -> None:
        """Write what is left."""
        execute, executemany = self._connection.execute, self._connection.executemany
        execute("BEGIN")
        executemany(_PAGES.format(marks=_marks("?", 4)), self._pages)
        executemany(_EVENTS.format(marks=_marks("?", len(EVENT_COLUMNS))), self._events)
        executemany("INSERT OR REPLACE INTO products VALUES (?, ?, ?, ?, ?, ?, ?)", self._products)
        execute("COMMIT")
        self._pages, self._events, self._products = [], [], []

    def close(self) -> None:
        self._connection.close()


class PostgresStore:
    """The same on PostgreSQL, prepared statements and one round trip per table and batch."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: asyncpg.Pool[Any] | None = None
        self._pages: list[PageRow] = []
        self._events: list[EventRow] = []

    async def open(self) -> None:
        """Connect and make the tables."""
        self._pool = await asyncpg.create_pool(self._url, min_size=1, max_size=4)
        await self._pool.execute(_TABLES.format(blob="BYTEA"))

    async def add(self, page: PageRow, events: list[EventRow]) -> None:
        """Keep a page and its events; the one that fills the batch waits for it."""
        self._pages.append(page)
        self._events += events
        if len(self._pages) >= BATCH:
            await self.flush()

    def add_event(self, event: EventRow) -> None:
        """Keep one event; its page follows, and fills the batch."""
        self._events.append(event)

    async def flush(self) -> None:
        """Write what is left."""
        assert self._pool is not None
        pages, events = self._pages, self._events
        self._pages, self._events = [], []
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.executemany(_PAGES.format(marks=_marks("$", 4)), pages)
            await connection.executemany(_EVENTS.format(marks=_marks("$", len(EVENT_COLUMNS))), events)

    async def close(self) -> None:
        assert self._pool is not None
        await self._pool.close()


def _marks(style: str, count: int) -> str:
    return ", ".join(style if style == "?" else f"${number}" for number in range(1, count + 1))
