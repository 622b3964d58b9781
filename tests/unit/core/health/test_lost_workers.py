"""A worker that vanished is told of, until another takes its place or it is long ago."""

from datetime import timedelta

from rig.clock import NOON
from tidemill.core.health.system import Grade, SystemFacts, lost_workers, system_grade
from tidemill.core.views import WorkerView

LEASE = timedelta(seconds=60)


def worker(name="worker1", pid=7, seen=timedelta(0), ended=None):
    """A worker that was last seen so long before noon."""
    return WorkerView(id=1, name=name, pid=pid, started_at=NOON, seen_at=NOON - seen, ended_at=ended, jobs=0)


def test_one_that_is_seen_is_not_lost():
    assert lost_workers([worker(seen=LEASE)], NOON, LEASE) == []


def test_one_that_signed_off_is_not_lost():
    gone = worker(seen=timedelta(minutes=2), ended=NOON - timedelta(minutes=1, seconds=50))
    assert lost_workers([gone], NOON, LEASE) == []


def test_one_that_is_unseen_for_a_lease_is_told_before_and_after_it_was_given_up():
    words = "worker worker1 has not been seen since 2026-03-02 11:58:00 UTC; others take on what it held"
    unseen = timedelta(minutes=2)
    for ended in (None, NOON - timedelta(seconds=30)):
        assert [line[:50] for line in lost_workers([worker(seen=unseen, ended=ended)], NOON, LEASE)] == [words[:50]]


def test_one_whose_place_is_taken_is_forgotten_and_so_is_one_of_long_ago():
    lost = worker("machine:7", pid=7, seen=timedelta(minutes=2))
    assert lost_workers([lost, worker("machine:9", pid=9)], NOON, LEASE) == []
    assert len(lost_workers([lost, worker("other:9", pid=9)], NOON, LEASE)) == 1
    assert lost_workers([worker(seen=timedelta(minutes=6))], NOON, LEASE) == []


def test_the_system_is_degraded_by_it():
    assert system_grade(SystemFacts(workers_alive=2, workers_lost=["worker worker1"]))[0] is Grade.DEGRADED
