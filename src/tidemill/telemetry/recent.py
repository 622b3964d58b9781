"""The latest happenings, for a person who looks on."""

from collections import deque

from tidemill.pipeline.happenings import Happening


class Recent:
    """Keeps the last so many happenings of the kinds that are wanted."""

    def __init__(self, keep: int = 200, leave_out: tuple[type, ...] = ()) -> None:
        """`leave_out` names the kinds that come too often to be worth a place."""
        self._kept: deque[Happening] = deque(maxlen=keep)
        self._leave_out = leave_out

    def remember(self, happening: Happening) -> None:
        """The listener."""
        if not isinstance(happening, self._leave_out):
            self._kept.append(happening)

    def latest(self, count: int = 50) -> list[Happening]:
        """The newest first."""
        return [self._kept[-1 - place] for place in range(min(count, len(self._kept)))]
