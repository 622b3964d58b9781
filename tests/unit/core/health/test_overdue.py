"""One sentence where nothing runs, a list where some runs and some does not."""

from datetime import datetime, timedelta

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.health.overdue import missed_targets, overdue_sentences, silence_sentence

LEASE = timedelta(seconds=60)
LATE = [("tick dispatch", "has never gone well, due every minute"), ("tick rescue", "failed"), ("market 7", "41 h ago")]


class Process(msgspec.Struct, frozen=True):
    """As much of a worker as is asked for."""

    seen_at: datetime
    ended_at: datetime | None = None
    name: str = "one"
    place: str = "here"
    lanes: str | None = "http"


def test_where_no_process_runs_all_ticks_are_one_sentence():
    ended = Process(NOON - timedelta(hours=2), ended_at=NOON - timedelta(hours=1))
    assert overdue_sentences(LATE, [ended], NOON, LEASE) == [
        "2 pieces of periodic work are silent since 2026-03-02 11:00 UTC: no `tidemill up` or worker runs here",
        "market 7 is overdue: 41 h ago",
    ]


def test_where_some_run_each_silent_tick_is_named():
    crowd = [Process(NOON), Process(NOON - timedelta(days=1))]
    assert overdue_sentences(LATE, crowd, NOON, LEASE) == [
        "tick dispatch is overdue: has never gone well, due every minute", "tick rescue is overdue: failed",
        "market 7 is overdue: 41 h ago",
    ]  # fmt: skip


def test_a_process_whose_lease_ran_out_does_not_run():
    assert silence_sentence(1, [Process(NOON - LEASE * 2)], NOON, LEASE).startswith(
        "1 piece of periodic work is silent"
    )
    assert not silence_sentence(1, [Process(NOON - LEASE)], NOON, LEASE)


def test_nothing_late_or_no_process_ever_needs_no_moment():
    assert not silence_sentence(0, [], NOON, LEASE)
    assert silence_sentence(3, [], NOON, LEASE) == (
        "3 pieces of periodic work are silent: no `tidemill up` or worker runs here"
    )


@pytest.mark.parametrize(("count", "words"), [(1, "1 target is due and got"), (2, "2 targets are due and got")])
def test_missed_targets_are_counted_as_people_say_it(count: int, words: str):
    assert missed_targets(count).startswith(words)
