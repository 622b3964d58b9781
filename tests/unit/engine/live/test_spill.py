"""What waits while the database is away: bounded in memory, then in a file, in order, and found by the next process."""

import pytest

from rig.clock import NOON
from tidemill.core.job import Job
from tidemill.core.live.change import Change, Fence, ThingKey
from tidemill.engine.live.spill import ChangeBuffer, left_behind
from tidemill.pipeline.live_ports import PendingEntry

pytestmark = pytest.mark.shows("M6")
JOB = Job(
    id=1, run_id=2, source_id=3, target_id=4, vertical="tallies", lane="live", host="a.test", url="https://a.test"
)


def entry(number, thing_id=7):
    return PendingEntry(
        fence=Fence(1, 1), thing_id=thing_id, thing=ThingKey("tallies", "a"), token=number, read_at=NOON, job=JOB,
        change=Change(state={"points": number}), seq=number,
    )  # fmt: skip


def tokens(entries):
    return [each.token for each in entries]


def drained(buffer):
    found = []
    while len(buffer):
        some = buffer.first(7)
        found += tokens(some)
        buffer.drop(set(tokens(some)))
    return found


@pytest.mark.inventory(49)
def test_all_comes_out_in_order_though_only_some_is_in_memory(tmp_path):
    buffer = ChangeBuffer(10, 10_000_000, tmp_path, "one")
    for number in range(500):
        buffer.append(entry(number))
    assert buffer.is_spilling
    assert len(buffer) == 500
    first = buffer.first(3)
    buffer.drop(set(tokens(first)))
    buffer.append(entry(500))
    assert tokens(first) + drained(buffer) == list(range(501))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.inventory(49)
def test_bytes_are_bounded_too(tmp_path):
    buffer = ChangeBuffer(1_000, 2_000, tmp_path, "one")
    for number in range(10):
        buffer.append(entry(number))
    assert buffer.waiting_bytes <= 2_000
    assert buffer.is_spilling
    assert drained(buffer) == list(range(10))


def test_a_lost_things_entries_are_dropped_and_no_others(tmp_path):
    buffer = ChangeBuffer(100, 10_000_000, tmp_path, "one")
    for number in range(6):
        buffer.append(entry(number, thing_id=number % 2))
    batch = buffer.first(4)
    assert buffer.without(1) == 3
    buffer.drop(set(tokens(batch)))
    assert tokens(buffer.first(9)) == [4]


def test_what_is_saved_is_found_by_the_next_process_and_not_while_its_owner_lives(tmp_path):
    buffer = ChangeBuffer(5, 10_000_000, tmp_path, "one")
    for number in range(12):
        buffer.append(entry(number))
    assert list(left_behind(tmp_path)) == []  # its owner holds the lock
    assert buffer.save() == 12
    ((path, entries, trouble),) = left_behind(tmp_path)
    assert tokens(entries) == list(range(12))
    assert trouble == ""
    assert path.stat().st_mode & 0o077 == 0


def test_a_torn_file_gives_what_is_whole_and_says_so(tmp_path):
    buffer = ChangeBuffer(1, 10_000_000, tmp_path, "one")
    for number in range(4):
        buffer.append(entry(number))
    buffer.save()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-10])
    ((_, entries, trouble),) = left_behind(tmp_path)
    assert tokens(entries) == [0, 1, 2]
    assert trouble
