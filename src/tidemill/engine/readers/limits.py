"""How much a page may take of its reader, and how long a reader lasts."""

from datetime import timedelta

import msgspec

QUICK_BASE = 0.04
QUICK_PER_BYTE = 0.1e-6
"""Processor seconds after which a page is read apart from others: real ones take up to 0.7 ms a KB, most a tenth."""
MOST_PATIENCE = 16.0


def patience_after(patience: float, *, was_read: bool) -> float:
    """Return how patient to be with the next pages, after one that was read apart: more so if it could be read.

    Where heavy pages are the usual ones they are soon read among the others again, by all readers at once.
    """
    return min(MOST_PATIENCE, patience * 1.5) if was_read else max(1.0, patience / 2)


class ReaderLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits per page, and when a reader is replaced by a fresh one.

    `cpu` and `wall` are a page's time on the processor and on the clock; `memory_megabytes` what reading it may take;
    `output_megabytes` how much may come of it. A reader is replaced after `pages`, or when it holds more than
    `idle_megabytes` between two pages.
    """

    cpu: timedelta = timedelta(seconds=5)
    wall: timedelta = timedelta(seconds=10)
    memory_megabytes: int = 512
    output_megabytes: int = 64
    pages: int = 5_000
    idle_megabytes: int = 256

    def quick_cpu(self, size: int, patience: float) -> float:
        """Return the processor seconds that a page of so many bytes may take among others."""
        return min(self.cpu.total_seconds(), patience * (QUICK_BASE + QUICK_PER_BYTE * size))
