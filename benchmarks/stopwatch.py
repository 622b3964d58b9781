"""A process measures itself: clock, processor and memory."""

import os
import resource
import time
from pathlib import Path


class Stopwatch:
    """Runs from `start` to `stop`; every thread of the process counts."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.waited_seconds = 0.0

    def start(self) -> None:
        self.seconds, self.cpu_seconds, self.waited_seconds = -time.perf_counter(), -cpu_seconds(), -waited_seconds()

    def stop(self) -> None:
        self.seconds += time.perf_counter()
        self.cpu_seconds += cpu_seconds()
        self.waited_seconds += waited_seconds()


def cpu_seconds() -> float:
    """User and system time of this process so far, and of the processes that it has started, ended or not."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + gone.ru_utime + gone.ru_stime + sum(map(ticking, descendants()))


def descendants() -> list[Path]:
    """The running processes below this one, where Linux tells: a contender's own processes are part of its cost."""
    found: list[Path] = []
    waiting = [Path("/proc/self")]
    while waiting:
        for told in waiting.pop().glob("task/*/children"):
            below = [Path("/proc", pid) for pid in told.read_text().split()]
            found += below
            waiting += below
    return found


def ticking(process: Path) -> float:
    """User and system seconds of a running process and of its ended children."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def waited_seconds() -> float:
    """How long this process's main thread was ready to run and did not get a processor, because others had it.

    Linux tells; elsewhere it is 0, and nobody notices a busy machine.
    """
    told = Path("/proc/self/schedstat")
    return int(told.read_text().split()[1]) / 1e9 if told.exists() else 0.0


def peak_megabytes() -> float:
    """The most memory that this process has held.

    From the kernel's own note where there is one: `ru_maxrss` of a child starts at what its parent held.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
