"""The latest happenings, for a person who watches."""

from collections import deque

from tidemill.pipeline.happenings import (
    Happening,
    JobRefused,
    JobWaits,
    PageGot,
    RecordsJudged,
    RecordsKept,
    StageDone,
    TickRan,
)

FREQUENT_KINDS = (StageDone, PageGot, RecordsJudged, RecordsKept, JobWaits, JobRefused, TickRan)
"""These come with every page or every few seconds, and would push out the others."""


class RecentHappenings:
    """Keeps the last so many happenings of the kinds that are wanted."""

    def __init__(self, keep: int = 200, leave_out: tuple[type, ...] = FREQUENT_KINDS) -> None:
        """`leave_out` names the kinds that are not kept."""
        self._kept: deque[Happening] = deque(maxlen=keep)
        self._leave_out = leave_out

    def add(self, happening: Happening) -> None:
        """Keep a happening, unless its kind is left out."""
        if not isinstance(happening, self._leave_out):
            self._kept.append(happening)

    def latest(self, count: int = 50) -> list[Happening]:
        """Return the newest happenings first."""
        return [self._kept[-1 - place] for place in range(min(count, len(self._kept)))]
