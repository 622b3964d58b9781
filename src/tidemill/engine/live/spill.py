"""What waits to be written while the database is away: in memory up to a bound, then in a file, always in order.

The file belongs to one process, which holds a lock on it. One that its process left behind is read by the next that
starts; tokens and sequence numbers see to it that nothing is written twice or out of order.
"""

import fcntl
import os
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

from tidemill.engine.live.spilled_lines import HEADER, EntryLines, UnreadableLine
from tidemill.pipeline.live_ports import PendingEntry

PATTERN = "live-changes-*.buffer"
LOADED_AT_ONCE = 200
"""Entries read back from the file at a time."""
USUAL_SIZE = 500
"""Bytes that an entry takes beside its page, for the bound."""


class ChangeBuffer:
    """Entries in order, the first ones in memory and the rest in a file."""

    def __init__(self, most: int, most_bytes: int, folder: Path | None, name: str, lines: EntryLines) -> None:
        """Keep so much in memory; without a `folder` everything stays in memory."""
        self._lines = lines
        self._most = most
        self._most_bytes = most_bytes
        self._path = None if folder is None else folder / f"live-changes-{name}.buffer"
        self._memory: deque[tuple[PendingEntry, int]] = deque()
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._read_to = 0
        self._in_file = 0

    def __len__(self) -> int:
        """Return how many entries wait."""
        return len(self._memory) + self._in_file

    @property
    def waiting_bytes(self) -> int:
        """Bytes that wait in memory, as far as they are counted."""
        return self._bytes

    @property
    def is_spilling(self) -> bool:
        """Whether entries are in the file."""
        return self._in_file > 0

    def append(self, entry: PendingEntry) -> None:
        """Put an entry behind all others."""
        size = size_of(entry)
        is_full = len(self._memory) >= self._most or self._bytes + size > self._most_bytes
        if self._path is not None and (self._in_file or (is_full and self._memory)):
            self._write(entry)
        else:
            self._memory.append((entry, size))
            self._bytes += size

    def first(self, count: int) -> list[PendingEntry]:
        """Return the first entries, read back from the file if need be."""
        if not self._memory and self._in_file:
            self._load()
        return [entry for entry, _ in (self._memory[at] for at in range(min(count, len(self._memory))))]

    def drop(self, tokens: Collection[int]) -> None:
        """Forget the first entries, as long as they have one of these tokens: they are written."""
        while self._memory and self._memory[0][0].token in tokens:
            self._bytes -= self._memory.popleft()[1]
        if not self._memory and not self._in_file:
            self._remove()

    def without(self, thing_id: int) -> int:
        """Forget what waits in memory for a thing whose watch is lost; what is in the file is lost when it comes."""
        kept = deque((entry, size) for entry, size in self._memory if entry.thing_id != thing_id)
        gone = len(self._memory) - len(kept)
        self._memory, self._bytes = kept, sum(size for _, size in kept)
        return gone

    def save(self) -> int:
        """Put everything into the file, because the process ends while the database is away; return how many."""
        if self._path is None or not len(self):
            return 0
        kept = [entry for entry, _ in self._memory]
        while self._in_file:
            self._memory.clear()
            self._load()
            kept += [entry for entry, _ in self._memory]
        self._memory.clear()
        self._remove()
        for entry in kept:
            self._write(entry)
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None
        return len(kept)

    def _write(self, entry: PendingEntry) -> None:
        if self._file is None and self._path is not None:
            self._file = _opened(self._path)
            self._read_to = self._file.write(HEADER)
        if self._file is not None:
            self._file.seek(0, os.SEEK_END)
            self._file.write(self._lines.encode(entry))
            self._file.flush()
            self._in_file += 1

    def _load(self) -> None:
        assert self._file is not None  # noqa: S101 - there are entries in it
        self._file.seek(self._read_to)
        for _ in range(min(LOADED_AT_ONCE, self._in_file)):
            entry = self._lines.decode(self._file.readline())
            self._memory.append((entry, size_of(entry)))
            self._bytes += size_of(entry)
            self._in_file -= 1
        self._read_to = self._file.tell()

    def _remove(self) -> None:
        if self._file is not None and self._path is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None


def size_of(entry: PendingEntry) -> int:
    """Return about how many bytes an entry takes."""
    return USUAL_SIZE + (len(entry.evidence.result.wire_body) if entry.evidence else 0)


def left_behind(folder: Path, lines: EntryLines) -> Iterator[tuple[Path, list[PendingEntry], str]]:
    """Yield the files of processes that are gone, with their entries in order and what is wrong with them, if anything.

    Each is locked until the next is asked for, so that two who start at once read different ones.
    """
    for path in sorted(folder.glob(PATTERN)):
        try:
            file = path.open("r+b")
        except OSError:
            continue
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue  # its process lives
            entries, trouble = _read_all(file, lines)
            yield path, entries, trouble


def put_aside(path: Path) -> Path:
    """Keep a file that cannot be read to its end under another name, for a person; return that name."""
    return path.rename(path.with_suffix(".unreadable"))


def _read_all(file: IO[bytes], lines: EntryLines) -> tuple[list[PendingEntry], str]:
    entries: list[PendingEntry] = []
    try:
        lines.check_header(file.readline(len(HEADER)))
        for line in file:
            entries.append(lines.decode(line))  # noqa: PERF401 - what came before a torn line is kept
    except UnreadableLine as error:
        return entries, str(error)
    return entries, ""


def _opened(path: Path) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    file = os.fdopen(descriptor, "w+b")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file
