"""Chromium for tests: found as the system finds it, fetched from and counted by its processes."""

import asyncio
from collections.abc import Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from rig.memory_services import MemoryServiceRegistry
from tidemill.core.audit import AuditEntry
from tidemill.core.pacing import Pace
from tidemill.engine.clock import RealClock
from tidemill.fetching.browsers.fetcher import BrowserFetcher
from tidemill.fetching.browsers.opening import open_pool
from tidemill.fetching.browsers.pool import BrowserPool
from tidemill.fetching.browsers.processes import all_processes, process_of
from tidemill.fetching.http import http_fetcher
from tidemill.pipeline.ports import FetchRequest, FetchResult

PATIENCE = 30
"""Seconds after which what has not happened will not."""
UNHURRIED = Pace(timedelta(0), parallel=9)


class Browsing:
    """A browser fetcher with all its gates, and what it wrote into the audit."""

    def __init__(self, program: str, allow: Iterable[str] = ("127.0.0.0/8",), **options: Any) -> None:
        """Nothing is started before the first page."""
        self.clock = RealClock()
        self.audit: list[AuditEntry] = []
        self._noted = asyncio.Condition()
        self.book = MemoryServiceRegistry()
        self.guard: Any = options.get("guard")
        allowed = list(allow)
        self.plain = http_fetcher(self.clock, allow=allowed)
        self.pool: BrowserPool = open_pool(program, self.clock, self._note, allow=allowed, **options)
        self.fetcher = BrowserFetcher(self.plain, lambda: self.pool, self.book, self.clock)

    async def get(self, url: str, wait_for: str = "", seconds: float = 20, **fields: Any) -> FetchResult:
        """One page."""
        asked = {"host": "test", "pace": UNHURRIED, "timeout": timedelta(seconds=seconds), **fields}
        return await self.fetcher.fetch(FetchRequest(url=url, options={"wait_for": wait_for}, **asked))

    async def until_audited(self, reason: str) -> AuditEntry:
        """The entry that gives this reason, once it is written."""
        async with self._noted, asyncio.timeout(PATIENCE):
            await self._noted.wait_for(lambda: any(entry.detail["reason"] == reason for entry in self.audit))
        return next(entry for entry in self.audit if entry.detail["reason"] == reason)

    async def _note(self, entry: AuditEntry) -> None:
        async with self._noted:
            self.audit.append(entry)
            self._noted.notify_all()


@asynccontextmanager
async def browsing(program: str, **options: Any) -> Any:
    """A browser fetcher that is closed at the end."""
    own = Browsing(program, **options)
    try:
        yield own
    finally:
        await own.fetcher.close()
        await own.plain.close()


def descendants(pid: int) -> list[int]:
    """Every process that `pid` started, directly or not, zombies aside."""
    among = [process for process in all_processes() if not process.is_zombie]
    found, line = [], [pid]
    while line:
        parent = line.pop()
        below = [process.pid for process in among if process.parent == parent]
        found += below
        line += below
    return found


def is_running(pid: int) -> bool:
    """Whether a process lives; one that is dead and not yet buried by its parent does not."""
    process = process_of(pid)
    return process is not None and not process.is_zombie
