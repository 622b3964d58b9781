from datetime import timedelta

import pytest

from tidemill.lab.faults import ALL_KINDS, EVERYWHERE, KINDS, Forbidden403, Outage, ScheduledFault, Timetable, timetable
from tidemill.lab.world import EPOCH

pytestmark = pytest.mark.shows("X5")

HOUR = timedelta(hours=1)
HOSTS = [f"h{number}.test" for number in range(8)]


def test_a_fault_holds_from_its_beginning_until_its_end() -> None:
    ill = Timetable([ScheduledFault(host="a.test", kind="x", fault=Forbidden403(), begins=EPOCH, ends=EPOCH + HOUR)])
    assert ill.at("a.test", EPOCH - timedelta(microseconds=1)) == ()
    assert ill.at("a.test", EPOCH) == (Forbidden403(),)
    assert ill.at("a.test", EPOCH + HOUR) == ()
    assert ill.at("b.test", EPOCH) == ()


def test_a_worldwide_outage_holds_on_every_host() -> None:
    ill = Timetable([ScheduledFault(host=EVERYWHERE, kind="outage", fault=Outage(), begins=EPOCH)])
    assert ill.at("anything.test", EPOCH) == (Outage(),)


@pytest.mark.parametrize(("hosts", "days"), [(8, 30.0), (200, 30.0), (3, 1.0), (1, 60 / 86_400)])
def test_every_kind_occurs_in_a_timetable_of_any_size(hosts: int, days: float) -> None:
    drawn = timetable(7, [f"h{number}" for number in range(hosts)], EPOCH, days)
    assert {each.kind for each in drawn.scheduled} == set(KINDS)
    assert all(each.begins < EPOCH + timedelta(days=days) for each in drawn.scheduled)
    assert all(each.ends is None or each.ends <= EPOCH + timedelta(days=days) for each in drawn.scheduled)


def test_a_host_has_one_passing_fault_at_a_time() -> None:
    drawn = timetable(7, HOSTS, EPOCH, 30, [kind for kind in ALL_KINDS if kind not in {"redesign", "outage"}])
    for hour in range(30 * 24):
        assert all(len(drawn.at(host, EPOCH + hour * HOUR)) <= 1 for host in HOSTS)


def test_a_redesign_is_for_good() -> None:
    drawn = timetable(7, HOSTS, EPOCH, 30, ["redesign"])
    [redesign] = drawn.scheduled
    assert redesign.ends is None
    assert drawn.at(redesign.host, EPOCH + timedelta(days=3650)) == (redesign.fault,)


def test_no_kinds_means_a_world_without_faults() -> None:
    assert timetable(7, HOSTS, EPOCH, 30, []).scheduled == ()


def test_the_same_seed_draws_the_same_timetable() -> None:
    assert timetable(7, HOSTS, EPOCH, 30).scheduled == timetable(7, HOSTS, EPOCH, 30).scheduled
    assert timetable(7, HOSTS, EPOCH, 30).scheduled != timetable(8, HOSTS, EPOCH, 30).scheduled


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown fault gremlins; choose from forbidden"):
        timetable(7, HOSTS, EPOCH, 30, ["gremlins"])
