"""The pool: keeps a few readers busy, replaces those that a page has ended, and finds out which page that was."""

import asyncio
import signal
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.vertical import Vertical
from tidemill.engine.readers.connection import PendingPage, ReaderConnection
from tidemill.engine.readers.fork_client import ForkServer, ForkServerLost, start_fork_server
from tidemill.engine.readers.limits import ReaderLimits, patience_after
from tidemill.engine.readers.messages import TaskKind, decode_answer, decode_result, encode_call, encode_task
from tidemill.pipeline.page_reading import UNWRITABLE, PageTask, ReadResult, bug_failure, read_page, unwritable
from tidemill.pipeline.reader_functions.function import Answered, Asked, ReaderFunction, run_function

PAGES_SENT = 8
"""Pages that a reader has at once: enough that it never waits for the worker's loop, few enough to repeat."""
BYTES_SENT = 1 << 20
"""Their size: large pages go one by one."""
MOST_CRASHES = 3
MOST_KILLS = 8
"""Readers that may crash, or be killed by somebody, over one page: all but the first alone with it.

A crash is the page's doing unless it happens once; a kill comes from outside and hits anybody.
"""
MOST_FAILED_STARTS = 3
FROZEN_AFTER = 5.0
"""Seconds beyond the limit on the clock after which a reader that neither answers nor ends is killed."""


class ReaderPool:
    """Reads pages in `size` processes, and in one more those that take longer than pages do.

    Once a page has ended a reader, one is kept to spare, so that nobody waits for a fork.
    """

    def __init__(
        self,
        module: str,
        verticals: Mapping[str, Vertical],
        limits: ReaderLimits,
        size: int,
        report: Callable[[str], None],
    ) -> None:
        """`module` is what the fork server runs; nothing starts before the first page. `report` tells of trouble."""
        self._module = module
        self._verticals = verticals
        self._limits = limits
        self._size = size
        self._report = report
        self._queue: deque[PendingPage] = deque()
        self._slow_queue: deque[PendingPage] = deque()
        self._readers: set[ReaderConnection] = set()
        self._fork_server: ForkServer | None = None
        self._starting: asyncio.Task[None] | None = None
        self._failed_starts = 0
        self._patience = 1.0
        self._keeps_spare = False
        self._is_feeding = False
        self._is_closed = False
        self._watch: asyncio.TimerHandle | None = None

    @property
    def pids(self) -> list[int]:
        """The processes of the readers."""
        return [reader.pid for reader in self._readers if reader.pid is not None]

    def submit(self, task: PageTask, done: Callable[[ReadResult], None]) -> None:
        """Read a page; `done` is called from the event loop with what came of it."""
        try:
            payload = encode_task(task)
        except UNWRITABLE as error:
            done(unwritable(error))
            return
        if self._failed_starts >= MOST_FAILED_STARTS:
            done(read_page(task, self._verticals))
            return
        verticals = self._verticals
        self._queue.append(
            PendingPage(
                payload,
                done,
                decode=lambda answer: decode_result(answer, verticals, task.vertical),
                inline=lambda: read_page(task, verticals),
            )
        )
        self._feed_soon()

    async def call(self, function: ReaderFunction[Asked, Answered], asked: Asked) -> Answered | Fail:
        """Run a function over scraped text; what waits for pages' turns goes after it."""
        verticals = self._verticals
        try:
            payload = encode_call(function, asked)
        except UNWRITABLE as error:
            return unwritable(error)
        if self._failed_starts >= MOST_FAILED_STARTS:
            return run_function(function, asked, verticals)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        pending = PendingPage(
            payload,
            lambda given: None if answer.done() else answer.set_result(given),
            decode=lambda told: decode_answer(told, function),
            inline=lambda: run_function(function, asked, verticals),
            kind=TaskKind.FUNCTION,
        )
        (self._queue if function.is_quick else self._slow_queue).appendleft(pending)
        self._feed_soon()
        given: Answered | Fail = await answer
        return given

    async def close(self) -> None:
        """End every process; pages that were not read are nobody's any more."""
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()
        if self._starting is not None:
            self._starting.cancel()
            with suppress(asyncio.CancelledError):
                await self._starting
        if self._fork_server is not None:
            await self._fork_server.close()

    def _feed_soon(self) -> None:
        """Feed the readers once per turn of the loop: pages that come together are sent together."""
        if not self._is_feeding:
            self._is_feeding = True
            asyncio.get_running_loop().call_soon(self._feed)

    def _feed(self) -> None:
        self._is_feeding = False
        if self._is_closed:
            return
        if self._is_short_of_readers() and self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start_readers())
        ready = [reader for reader in self._readers if reader.takes_pages]
        quick = sorted((each for each in ready if not each.is_slow), key=lambda each: len(each.pages), reverse=True)
        for reader in [*quick[: self._size][::-1], *(each for each in ready if each.is_slow)]:
            self._feed_reader(reader)
        self._watch_over_readers()

    def _feed_reader(self, reader: ReaderConnection) -> None:
        if reader.is_slow:
            if self._slow_queue and not reader.pages:
                limit = self._limits.cpu.total_seconds()
                reader.send([self._slow_queue.popleft()], lambda _: limit, self._limits.wall.total_seconds())
            return
        if len(reader.pages) > PAGES_SENT // 2:
            return
        share = min(PAGES_SENT, 1 + len(self._queue) // max(1, self._size))
        pages: list[PendingPage] = []
        size = reader.bytes_sent
        while self._queue and len(reader.pages) + len(pages) < share:
            if size and size + len(self._queue[0].payload) > BYTES_SENT:
                break
            size += len(self._queue[0].payload)
            pages.append(self._queue.popleft())
        if pages:
            patience = self._patience
            reader.send(pages, lambda size: self._limits.quick_cpu(size, patience), self._limits.wall.total_seconds())

    def _is_short_of_readers(self) -> bool:
        quick = sum(not reader.is_slow for reader in self._readers)
        has_slow = len(self._readers) > quick
        wanted = self._size + self._keeps_spare
        return bool(self._queue and quick < wanted) or bool(self._slow_queue and not has_slow)

    async def _start_readers(self) -> None:
        """Start what is missing, the fork server first; after too many failures pages are read inline."""
        try:
            if self._fork_server is None:
                self._fork_server = await start_fork_server(self._module, self._limits, self._fork_server_lost)
            while self._is_short_of_readers() and self._fork_server is not None:
                is_slow = bool(self._slow_queue) and not any(reader.is_slow for reader in self._readers)
                reader = ReaderConnection(self._answered, self._ended, is_slow=is_slow)
                self._readers.add(reader)
                await self._fork_server.start(reader)
        except ForkServerLost as error:
            self._failed_starts += 1
            self._fork_server_lost()
            self._report(f"readers cannot be started: {error}")
        finally:
            self._starting = None
        if self._failed_starts >= MOST_FAILED_STARTS:
            self._read_inline()
        self._feed_soon()

    def _fork_server_lost(self) -> None:
        self._fork_server = None

    def _read_inline(self) -> None:
        self._report("pages are read inline from now on: no limits hold while one is read")
        loop = asyncio.get_running_loop()
        for page in [*self._queue, *self._slow_queue]:
            loop.call_soon(self._read_one_inline, page)
        self._queue.clear()
        self._slow_queue.clear()

    def _read_one_inline(self, page: PendingPage) -> None:
        page.done(page.inline())

    def _answered(self, reader: ReaderConnection, page: PendingPage, answer: memoryview) -> None:
        self._failed_starts = 0
        if reader.is_slow and page.kind is TaskKind.PAGE:
            self._patience = patience_after(self._patience, was_read=True)
        try:
            result = page.decode(answer)
        except Exception as error:  # noqa: BLE001 - an answer that cannot be read is its page's failure
            result = bug_failure(error)
        page.done(result)
        self._feed_soon()

    def _ended(self, reader: ReaderConnection) -> None:
        """Replace a reader; the page that it was reading answers for its end, the others are read again."""
        self._readers.discard(reader)
        if reader.pages and not reader.is_retiring:
            self._keeps_spare = True
            self._blame(reader.pages.popleft(), reader.exit_code or 0, is_slow=reader.is_slow)
        self._queue.extendleft(reversed(reader.pages))
        reader.pages.clear()
        self._feed_soon()

    def _blame(self, page: PendingPage, exit_code: int, *, is_slow: bool) -> None:
        cpu, wall = self._limits.cpu.total_seconds(), self._limits.wall.total_seconds()
        if exit_code == -signal.SIGALRM:
            page.done(Fail(Failure.PAGE_TOO_HARD, f"reading it takes longer than {wall:g} s"))
        elif exit_code == -signal.SIGPROF and is_slow:
            if page.kind is TaskKind.PAGE:
                self._patience = patience_after(self._patience, was_read=False)
            page.done(Fail(Failure.PAGE_TOO_HARD, f"reading it takes more than {cpu:g} s of processor time"))
        elif exit_code == -signal.SIGPROF:
            self._slow_queue.append(page)
        else:
            page.deaths += 1
            if page.deaths < (MOST_KILLS if exit_code == -signal.SIGKILL else MOST_CRASHES):
                self._slow_queue.append(page)
            else:
                detail = f"{page.deaths} readers died over it ({words_for(exit_code)})"
                page.done(Fail(Failure.PAGE_TOO_HARD, detail))

    def _watch_over_readers(self) -> None:
        if self._watch is None and any(reader.pages for reader in self._readers):
            self._watch = asyncio.get_running_loop().call_later(FROZEN_AFTER, self._kill_frozen)

    def _kill_frozen(self) -> None:
        """Kill readers that somebody has stopped: the kernel's timers do not end those."""
        self._watch = None
        now, patience = asyncio.get_running_loop().time(), self._limits.wall.total_seconds() + FROZEN_AFTER
        for reader in self._readers:
            if reader.pages and now - reader.busy_since > patience and self._fork_server is not None:
                self._fork_server.kill(reader)
        self._watch_over_readers()


def words_for(exit_code: int) -> str:
    """Return how a process ended."""
    if exit_code >= 0:
        return f"exit code {exit_code}"
    with suppress(ValueError):
        return signal.Signals(-exit_code).name
    return f"signal {-exit_code}"
