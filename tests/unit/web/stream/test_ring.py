"""The shared ring: what a reader lacks, found from whichever end is nearer."""

from datetime import UTC, datetime

import pytest

from tidemill.core.live.change import ChangeKind, ThingKey
from tidemill.core.snapshots.changes import LoggedChange
from tidemill.web.stream.ring import FEW, MOST_EVENTS, EventRing, RingEvent

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def ring_of(first: int, count: int) -> EventRing:
    ring = EventRing(first - 1)
    for offset in range(first, first + count):
        change = LoggedChange(
            offset=offset, thing_id=1, thing=ThingKey("tallies", "a"), seq=offset, kind=ChangeKind.DELTA, patch="{}",
            checksum="", changed_at=NOON, logged_at=NOON, source="site", status="live",
        )  # fmt: skip
        ring.append(RingEvent(change, None, b"x"), NOON)
    return ring


@pytest.mark.shows("X8")
@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1, 5 * FEW])
def test_whoever_is_at_an_offset_gets_every_later_event_in_order(count: int) -> None:
    ring = ring_of(8, count)
    assert (ring.base, ring.head) == (7, 7 + count)
    for offset in range(ring.base, ring.head + 1):
        assert [each.change.offset for each in ring.after(offset)] == list(range(offset + 1, ring.head + 1))


def test_a_ring_that_is_full_forgets_the_oldest_and_knows_from_where_it_has_everything() -> None:
    ring = ring_of(1, MOST_EVENTS + 3)
    assert ring.base == 3
    assert [each.change.offset for each in ring.after(ring.head - 2)] == [ring.head - 1, ring.head]
    assert next(iter(ring.after(ring.base))).change.offset == 4
