"""SQLite's write-ahead log: what commits put into it is brought into the database's file beside them, not by them.

SQLite would do so within the commit that fills the log: a tenth of a second, for which every job in hand waits.
"""

import sqlite3
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, suppress

ENOUGH = 12_000
"""Rows written from which the log is worth bringing in: some 30 MB of it."""
PASSES = 2
"""How often the log is gone through at once: the first time takes longest, and others write meanwhile."""
_BRING_IN = "PRAGMA wal_checkpoint(PASSIVE)"


class WalCheckpointer:
    """Brings the log in from a thread of its own; the commit after that adds the rest, and the log begins anew.

    It can only begin anew when all of it is in the file, and beside a busy writer a thread alone never gets there.
    """

    def __init__(self, file: str, pen: Executor | None = None) -> None:
        """Work on the database in `file`; `pen` is who does it."""
        self._file = file
        self._pen = pen or ThreadPoolExecutor(1, thread_name_prefix="log")
        self._rows = 0
        self._under_way: Future[None] | None = None
        self._is_closed = False

    def grew(self, rows: int, connection: sqlite3.Connection) -> None:
        """Told after a commit, by the thread that made it and while nobody else writes."""
        self._rows += rows
        if self._is_closed:
            return
        if self._under_way is None and self._rows >= ENOUGH:
            self._rows = 0
            self._under_way = self._pen.submit(self._bring_in)
        elif self._under_way is not None and self._under_way.done():
            self._under_way = None
            with suppress(sqlite3.Error):  # as below
                connection.execute(_BRING_IN)

    def close(self) -> None:
        """Let what is under way come to its end; from here on the log is SQLite's own affair again."""
        self._is_closed = True
        self._pen.shutdown()

    def _bring_in(self) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._file)) as own:  # the log keeps what the file lacks
            for _ in range(PASSES):
                own.execute(_BRING_IN)
