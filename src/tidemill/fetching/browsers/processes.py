"""The processes of a browser, read from /proc: their parents, their memory, and how each is ended."""

import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

PROC = Path("/proc")
_ANONYMOUS = "RssAnon:"
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Process(msgspec.Struct, frozen=True):
    """A process as the kernel lists it; a pid with its start time never means another process."""

    pid: int
    parent: int
    session: int
    started: int
    is_zombie: bool


def all_processes() -> list[Process]:
    """Return every process of this machine that can be seen."""
    listed = (process_of(int(entry.name)) for entry in os.scandir(PROC) if entry.name.isdigit())
    return [process for process in listed if process is not None]


def process_of(pid: int) -> Process | None:
    """Return a process, or None when there is no such."""
    try:
        line = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = line.rpartition(b")")[2].split()
    return Process(pid, int(fields[1]), int(fields[3]), int(fields[19]), fields[0] in {b"Z", b"X"})


def is_alive(process: Process) -> bool:
    """Whether this very process still runs."""
    now = process_of(process.pid)
    return now is not None and now.started == process.started and not now.is_zombie


def children(parent: int, among: Iterable[Process]) -> list[Process]:
    """Return the processes that `parent` started."""
    return [process for process in among if process.parent == parent and not process.is_zombie]


def in_session(leader: Process, among: Iterable[Process]) -> list[Process]:
    """Return the leader and all that it started: no process of a browser leaves its session."""
    return [
        process
        for process in among
        if process.session == leader.pid and process.started >= leader.started and not process.is_zombie
    ]


def command_line(pid: int) -> list[str]:
    """Return the command line of a process."""
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().decode("utf-8", "replace").rstrip("\0").split("\0")
    except OSError:
        return []


def memory_of(pids: Iterable[int]) -> int:
    """Return the memory that would be free without these processes, in bytes."""
    return sum(_anonymous_bytes(pid) for pid in pids)


def _anonymous_bytes(pid: int) -> int:
    try:
        status = (PROC / str(pid) / "status").read_text("ascii", "replace")
    except OSError:
        return 0
    line = next((line for line in status.splitlines() if line.startswith(_ANONYMOUS)), "")
    return int(line.split()[1]) * 1024 if line else 0


def cpu_seconds_of(pids: Iterable[int]) -> float:
    """Return the processor time that these processes have taken so far, in seconds."""
    return sum(_ticks(pid) for pid in pids) / _TICKS_PER_SECOND


def _ticks(pid: int) -> int:
    try:
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def kill(processes: Iterable[Process]) -> None:
    """Send SIGKILL to processes."""
    for process in processes:
        if is_alive(process):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)


class ProcessWatch:
    """Notices at once when a process ends, by a pidfd that becomes readable then."""

    def __init__(self, process: Process) -> None:
        """Start watching; `ended` is set when the process ends, at once if it already has."""
        self.ended = asyncio.Event()
        self._file = -1
        try:
            self._file = os.pidfd_open(process.pid)
        except ProcessLookupError:
            self.ended.set()
            return
        asyncio.get_running_loop().add_reader(self._file, self._on_end)
        if not is_alive(process):
            self._on_end()

    def close(self) -> None:
        """Stop watching."""
        if self._file >= 0:
            asyncio.get_running_loop().remove_reader(self._file)
            os.close(self._file)
            self._file = -1

    def _on_end(self) -> None:
        self.ended.set()
        self.close()
