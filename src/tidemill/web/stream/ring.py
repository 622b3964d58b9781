"""The shared ring of ready bytes: what readers who are not far behind are told, encoded once for all of them."""

from collections import Counter, deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

import msgspec

from tidemill.core.snapshots.changes import LoggedChange

KEPT_FOR = timedelta(minutes=15)
MOST_EVENTS = 20_000
MOST_BYTES = 32_000_000
MOST_REPLAYED = 300
"""Events of one thing that a reader is told one by one; who lacks more is told the whole state instead."""
FEW = 32
"""So many events are found by their places: a look at one place near an end of the ring costs nothing."""


class RingEvent(msgspec.Struct, frozen=True):
    """A change, the status of its thing before it, and its event as bytes."""

    change: LoggedChange
    status_before: str | None
    data: bytes


class EventRing:
    """The last changes in the order of commits, without a gap."""

    def __init__(self, head: int) -> None:
        """Begin after the offset `head`."""
        self._events: deque[RingEvent] = deque()
        self._size = 0
        self.head = head

    @property
    def base(self) -> int:
        """The offset after which the ring holds everything."""
        return self.head - len(self._events)

    def append(self, event: RingEvent, now: datetime) -> None:
        """Add the next change; raise `ValueError` for one that is not the next."""
        if event.change.offset != self.head + 1:
            msg = f"{event.change.offset} does not follow {self.head}"
            raise ValueError(msg)
        self._events.append(event)
        self._size += len(event.data)
        self.head += 1
        while self._events and self._is_too_much(now):
            self._size -= len(self._events.popleft().data)

    def after(self, offset: int) -> Iterator[RingEvent]:
        """Return the changes after an offset that is not before `base`."""
        lacking = min(self.head - offset, len(self._events))
        if lacking <= FEW:  # nearly every reader, nearly always: from the end, not through all that came before
            return (self._events[place] for place in range(-lacking, 0))
        return islice(self._events, len(self._events) - lacking, None)

    def _is_too_much(self, now: datetime) -> bool:
        is_old = now - self._events[0].change.logged_at > KEPT_FOR
        return is_old or len(self._events) > MOST_EVENTS or self._size > MOST_BYTES


def replays_too_much(changes: list[LoggedChange]) -> bool:
    """Return whether a reader lacks too many changes of any one thing to be told each of them."""
    counts = Counter(change.thing_id for change in changes)
    return any(count > MOST_REPLAYED for count in counts.values())
