"""Segment files: bodies of pages one after another, append-only, each record able to prove that it is whole.

A file belongs to the process that made it and to nobody else: it is created exclusively and locked for as long as it
may grow. Numbers only go up, because the file with the highest number is never removed.
"""

import fcntl
import os
import struct
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec
import xxhash

MAGIC = b"TMb1"
HEADER = struct.Struct("<4s16sIQ")
"""Magic, key, length of the payload, xxh3-64 of the payload."""

ROLL_AT = 256 * 1024 * 1024
OPEN_FILES = 16
AT_ONCE = 1_024
"""Pieces that one call may write; systems take no more."""
SUFFIX = ".seg"

_sync = getattr(os, "fdatasync", os.fsync)  # macOS has only fsync


class SegmentPosition(msgspec.Struct, frozen=True):
    """Where a record stands: the segment's number, the record's first byte, the payload's length."""

    segment: int
    place: int
    length: int


class SegmentWriter:
    """Appends records to a segment of its own, and begins another one when it is full."""

    def __init__(self, folder: Path, roll_at: int = ROLL_AT, *, lasting: bool = True) -> None:
        """Write in `folder`; nothing is created before the first record. What need not last waits for no disk."""
        self._lasting = lasting
        self._folder = folder
        self._roll_at = roll_at
        self._number = 0
        self._file = -1
        self._size = 0

    def append(self, records: Sequence[tuple[bytes, bytes]]) -> list[SegmentPosition]:
        """Write (key, payload) records and wait until the disk has them: few writes, one sync."""
        if self._file < 0 or self._size >= self._roll_at:
            self._begin()
        parts: list[bytes] = []
        spots = []
        place = self._size
        for key, payload in records:
            parts += (HEADER.pack(MAGIC, key, len(payload), xxhash.xxh3_64_intdigest(payload)), payload)
            spots.append(SegmentPosition(self._number, place, len(payload)))
            place += HEADER.size + len(payload)
        self._write(parts)
        self._size = place
        return spots

    def close(self) -> None:
        """Let go of the segment; it never grows again."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _write(self, parts: Sequence[bytes]) -> None:
        """Write what stands in pieces as it is: to join megabytes first would hold the interpreter for milliseconds."""
        place = self._size
        rest: Sequence[bytes | memoryview] = parts
        while rest:  # a failed write is simply written over by the next one
            some = rest[:AT_ONCE]
            written = os.pwritev(self._file, some, place)
            place += written
            rest = [*_after(some, written), *rest[AT_ONCE:]]
        if not self._lasting:
            return
        try:
            _sync(self._file)
        except OSError:
            self.close()  # after a failed sync nobody knows what the disk holds: never trust this file again
            raise

    def _begin(self) -> None:
        self.close()
        self._folder.mkdir(parents=True, exist_ok=True)
        number = max(segment_numbers(self._folder), default=0)
        while self._file < 0:
            number += 1
            with suppress(FileExistsError):  # another process was faster: take the next number
                path = segment_path(self._folder, number)
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._number, self._size = number, 0
        if self._lasting:
            _sync_folder(self._folder)


class SegmentReader:
    """Reads records back; what is missing, torn or damaged is simply not there. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Read from `folder`."""
        self._folder = folder
        self._files: OrderedDict[int, int] = OrderedDict()
        self._lock = Lock()

    def read(self, wanted: Iterable[tuple[bytes, SegmentPosition]]) -> dict[bytes, bytes]:
        """The payloads of the records that are whole, by key."""
        found = {}
        with self._lock:
            for key, spot in wanted:
                payload = self._payload(key, spot)
                if payload is not None:
                    found[key] = payload
        return found

    def forget(self, number: int) -> None:
        """Close a segment, so that the disk gets its room back once it is removed."""
        with self._lock:
            if (file := self._files.pop(number, None)) is not None:
                os.close(file)

    def close(self) -> None:
        """Close every segment."""
        for number in list(self._files):
            self.forget(number)

    def _payload(self, key: bytes, spot: SegmentPosition) -> bytes | None:
        file = self._open(spot.segment)
        if file is None:
            return None
        record = os.pread(file, HEADER.size + spot.length, spot.place)
        if len(record) != HEADER.size + spot.length:
            return None
        magic, its_key, length, checksum = HEADER.unpack_from(record)
        payload = record[HEADER.size :]
        whole = (magic, its_key, length) == (MAGIC, key, spot.length)
        return payload if whole and checksum == xxhash.xxh3_64_intdigest(payload) else None

    def _open(self, number: int) -> int | None:
        if number in self._files:
            self._files.move_to_end(number)
            return self._files[number]
        try:
            file = os.open(segment_path(self._folder, number), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        self._files[number] = file
        if len(self._files) > OPEN_FILES:
            os.close(self._files.popitem(last=False)[1])
        return file


def _after(parts: Sequence[bytes | memoryview], written: int) -> list[bytes | memoryview]:
    """What is left of the parts when so many bytes of them have been written."""
    for at, part in enumerate(parts):
        if written < len(part):
            return [memoryview(part)[written:], *parts[at + 1 :]]
        written -= len(part)
    return []


def segment_path(folder: Path, number: int) -> Path:
    """The file of a segment."""
    return folder / f"{number:06d}{SUFFIX}"


def segment_numbers(folder: Path) -> list[int]:
    """The segments there are, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(int(path.stem) for path in folder.glob(f"*{SUFFIX}") if path.stem.isdigit())


def finished_segments(folder: Path) -> dict[int, int]:
    """The segments that no process writes to any more, with their sizes; the newest one is never among them."""
    return {
        number: size
        for number in segment_numbers(folder)[:-1]
        if (size := _size_if_finished(segment_path(folder, number))) is not None
    }


def remove_segment(folder: Path, number: int) -> None:
    """Remove a finished segment; already gone is fine."""
    segment_path(folder, number).unlink(missing_ok=True)


def _size_if_finished(path: Path) -> int | None:
    """A writer holds the lock from birth to close, and nobody reopens a segment: free once is free for good."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file).st_size
    except BlockingIOError:
        return None
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
