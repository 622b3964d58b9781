"""Build the readers: processes that read pages."""

import os
from datetime import timedelta

from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.engine.clock import RealClock
from tidemill.engine.ports import PageReaders
from tidemill.engine.readers.fork_client import can_fork
from tidemill.engine.readers.limits import ReaderLimits
from tidemill.engine.readers.pool import ReaderPool
from tidemill.pipeline.happenings import PartCrashed
from tidemill.pipeline.ports import Clock
from tidemill.settings import Settings

MODULE = "tidemill.bootstrap.page_readers.process"
MOST_BY_DEFAULT = 4


def build_readers(settings: Settings, clock: Clock, announce: Listeners) -> PageReaders | None:
    """Return the readers; None where pages are read inline: as set, in virtual time, and where there is no fork."""
    size = readers_wanted(settings.reader_processes)
    if size == 0 or not isinstance(clock, RealClock) or not can_fork():
        return None
    limits = ReaderLimits(
        cpu=timedelta(seconds=settings.reader_cpu_seconds),
        wall=timedelta(seconds=settings.reader_wall_seconds),
        memory_megabytes=settings.reader_megabytes,
        pages=settings.reader_max_pages,
    )
    return ReaderPool(
        MODULE, VERTICALS, limits, size, lambda words: announce(PartCrashed(clock.now(), "readers", words))
    )


def readers_wanted(setting: int | None) -> int:
    """Return how many readers to start: as set, else one less than there are processors."""
    if setting is not None:
        return setting
    return max(1, min(MOST_BY_DEFAULT, (os.cpu_count() or 1) - 1))
