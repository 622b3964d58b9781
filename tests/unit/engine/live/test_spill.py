"""What waits while the database is away: bounded in memory, then in a file, in order, and found by the next process."""

import pickle
from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.core.job import Job
from tidemill.core.live.change import Change, ChangeKind, Fence, Provenance, ThingKey
from tidemill.core.live.lifecycle import Life, Lifecycle, Move
from tidemill.core.live.rules import Outlook, Phase
from tidemill.core.page import Page
from tidemill.engine.live.spill import ChangeBuffer, left_behind, put_aside
from tidemill.engine.live.spilled_lines import HEADER, EntryLines
from tidemill.pipeline.checkpoints import Fetched
from tidemill.pipeline.live_ports import PendingEntry
from tidemill.pipeline.ports import FetchResult, FetchStatus
from tidemill.verticals.matches.merging.rows import MatchConflict, TeamRoster

pytestmark = pytest.mark.shows("M6")
JOB = Job(
    id=1, run_id=2, source_id=3, target_id=4, vertical="tallies", lane="live", host="a.test", url="https://a.test"
)

LINES = EntryLines(lambda vertical: {"matches": {"MatchConflict": MatchConflict, "TeamRoster": TeamRoster}}[vertical])


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
    buffer = ChangeBuffer(10, 10_000_000, tmp_path, "one", LINES)
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
    buffer = ChangeBuffer(1_000, 2_000, tmp_path, "one", LINES)
    for number in range(10):
        buffer.append(entry(number))
    assert buffer.waiting_bytes <= 2_000
    assert buffer.is_spilling
    assert drained(buffer) == list(range(10))


def test_a_lost_things_entries_are_dropped_and_no_others(tmp_path):
    buffer = ChangeBuffer(100, 10_000_000, tmp_path, "one", LINES)
    for number in range(6):
        buffer.append(entry(number, thing_id=number % 2))
    batch = buffer.first(4)
    assert buffer.without(1) == 3
    buffer.drop(set(tokens(batch)))
    assert tokens(buffer.first(9)) == [4]


def test_what_is_saved_is_found_by_the_next_process_and_not_while_its_owner_lives(tmp_path):
    buffer = ChangeBuffer(5, 10_000_000, tmp_path, "one", LINES)
    for number in range(12):
        buffer.append(entry(number))
    assert list(left_behind(tmp_path, LINES)) == []  # its owner holds the lock
    assert buffer.save() == 12
    ((path, entries, trouble),) = left_behind(tmp_path, LINES)
    assert tokens(entries) == list(range(12))
    assert trouble == ""
    assert path.stat().st_mode & 0o077 == 0


def test_a_torn_file_gives_what_is_whole_and_says_so(tmp_path):
    buffer = ChangeBuffer(1, 10_000_000, tmp_path, "one", LINES)
    for number in range(4):
        buffer.append(entry(number))
    buffer.save()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-10])
    ((_, entries, trouble),) = left_behind(tmp_path, LINES)
    assert tokens(entries) == [0, 1, 2]
    assert trouble


def whole_entry():
    page = Page(
        id=0, url="https://a.test/ü", final_url="https://a.test/ü", status_code=200, body=b"\x00\xff\n{",
        charset="utf-8", content_type="text/html", digest=-3, fetched_at=NOON, etag='"a"',
    )  # fmt: skip
    result = FetchResult(
        status=FetchStatus.OK, url=page.url, headers={"etag": '"a"'}, wire_body=b"\x1f\x8b\n", body=page.body,
        duration=timedelta(milliseconds=31), requested_at=NOON, failure=Failure.TIMED_OUT, crawl_delay=timedelta(1),
    )  # fmt: skip
    change = Change(
        state={"balls": {"1.2.3": {"runs": 4}}, "title": "\u2028 é"}, kind=ChangeKind.CORRECTION, skipped=2,
        provenance={"score": Provenance("feed", 0.9, NOON)}, reason="less", was={"innings": {"1": {"runs": 7}}},
    )  # fmt: skip
    conflict = MatchConflict(
        innings=1, field="runs", shown_source="feed", shown_value=9, other_source="b", other_value=1, at=NOON
    )
    return PendingEntry(
        fence=Fence(1, 2), thing_id=7, thing=ThingKey("matches", "a-b"), token=2**62, read_at=NOON, job=JOB,
        change=change, seq=3, source="feed", evidence=Fetched(page, result),
        life=Life(state=Lifecycle.PAUSED, since=NOON, paused_until=NOON), outlook=Outlook(Phase.BREAK, NOON),
        move=Move(before=Lifecycle.ACTIVE, after=Lifecycle.PAUSED, reason="five", at=NOON),
        rows=(conflict, TeamRoster("a", ("one", "two"))),
    )  # fmt: skip


def test_an_entry_with_its_page_and_its_rows_is_the_same_when_it_comes_back(tmp_path):
    buffer = ChangeBuffer(1, 10_000_000, tmp_path, "one", LINES)
    for _ in range(3):
        buffer.append(whole_entry())
    assert buffer.first(1) == [whole_entry()]
    buffer.save()
    ((_, entries, trouble),) = left_behind(tmp_path, LINES)
    assert entries == [whole_entry()] * 3
    assert trouble == ""


class Trap:
    """What pickle would run."""

    def __reduce__(self):
        return (pytest.fail, ("the file was run",))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pickle.dumps(Trap()), "another version"),
        (HEADER + pickle.dumps(Trap()) + b"\n", "malformed"),
        (b'{"live_changes":99}\n{}\n', "another version"),
        (HEADER + b'{"entry":{}}\n', "missing required field"),
        (HEADER + b"[" * 5_000 + b"\n", ""),
        (HEADER + LINES.encode(whole_entry()).replace(b"TeamRoster", b"os.system"), "no value that"),
    ],
)
def test_a_file_that_somebody_else_made_runs_nothing_and_is_kept_for_a_person(tmp_path, content, words):
    path = tmp_path / "live-changes-x.buffer"
    path.write_bytes(content)
    ((found, entries, trouble),) = left_behind(tmp_path, LINES)
    assert (found, entries) == (path, [])
    assert trouble
    assert words in trouble
    assert put_aside(path).read_bytes() == content
    assert list(left_behind(tmp_path, LINES)) == []
