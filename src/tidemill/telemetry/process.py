"""The memory and processor time that this process uses."""

import os
import resource
import sys
import time
from pathlib import Path

import msgspec

MEGABYTE = 1024 * 1024
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""The peak is given in bytes on macOS and in kilobytes elsewhere."""


class ProcessUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Current and peak memory, and the processor time since the start."""

    memory_mb: float
    peak_memory_mb: float
    cpu_seconds: float


def process_usage() -> ProcessUsage:
    """Measure this process; where the current memory cannot be read, return the peak for it."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT / MEGABYTE
    return ProcessUsage(
        memory_mb=round(_resident() or peak, 1),
        peak_memory_mb=round(peak, 1),
        cpu_seconds=round(time.process_time(), 2),
    )


def _resident() -> float | None:
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
