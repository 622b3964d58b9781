"""The latest happenings, for a person who looks on."""

from collections import deque

from tidemill.pipeline.happenings import (
    Happening,
    JobRefused,
    JobWaits,
    PageGot,
    RecordsKept,
    StageDone,
    TickRan,
)

PER_PAGE = (StageDone, PageGot, RecordsKept, JobWaits, JobRefused, TickRan)
"""These come with every page or every few seconds, and would push out what matters."""


class Recent:
    """Keeps the last so many happenings of the kinds that are wanted."""

    def __init__(self, keep: int = 200, leave_out: tuple[type, ...] = PER_PAGE) -> None:
        """`leave_out` names the kinds that are not worth a place."""
        self._kept: deque[Happening] = deque(maxlen=keep)
        self._leave_out = leave_out

    def remember(self, happening: Happening) -> None:
        """The listener."""
        if not isinstance(happening, self._leave_out):
            self._kept.append(happening)

    def latest(self, count: int = 50) -> list[Happening]:
        """The newest first."""
        return [self._kept[-1 - place] for place in range(min(count, len(self._kept)))]
