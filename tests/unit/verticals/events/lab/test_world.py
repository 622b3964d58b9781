from collections import Counter
from datetime import timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from tidemill.lab.faults import ALL_KINDS, DstNight, EmptyList, ScheduledFault, Timetable
from tidemill.lab.messages import LabRequest
from tidemill.lab.world import EPOCH, WorldTerms
from tidemill.verticals.events.lab.group import agenda_sites, agenda_world, true_events, world_of
from tidemill.verticals.events.lab.sites import Make, build_sites

pytestmark = pytest.mark.shows("X5")

DAY = timedelta(days=1)


def test_the_same_seed_is_the_same_world() -> None:
    moments = [EPOCH + day * DAY for day in range(3)]
    answers = [
        [
            world.respond(LabRequest(site.host, path), moment)
            for moment in moments
            for site in agenda_sites(world).values()
            for path in site.paths
        ]
        for world in (agenda_world(8, WorldTerms(seed=5)), agenda_world(8, WorldTerms(seed=5)))
    ]
    assert answers[0] == answers[1]


def test_another_seed_is_another_world() -> None:
    one, other = agenda_world(8, WorldTerms(seed=5)), agenda_world(8, WorldTerms(seed=6))
    assert set(agenda_sites(one)) != set(agenda_sites(other))


def test_what_was_asked_before_does_not_change_an_answer() -> None:
    asked_often, asked_once = agenda_world(4, WorldTerms(seed=5)), agenda_world(4, WorldTerms(seed=5))
    host, site = next(iter(agenda_sites(asked_often).items()))
    for day in range(30):
        asked_often.respond(LabRequest(host, site.paths[0]), EPOCH + day * DAY)
    late = EPOCH + 30 * DAY
    request = LabRequest(host, site.paths[0])
    assert asked_often.respond(request, late) == asked_once.respond(request, late)


def test_sites_have_names_of_their_own_and_all_makes_occur() -> None:
    sites = build_sites(7, 400)
    assert len({site.host for site in sites}) == 400
    assert {site.make for site in sites} == set(Make)
    assert {site.language for site in sites} == {"nl", "en"}
    assert {len(site.paths) for site in sites} == {1, 2, 3, 4}


def test_over_a_month_events_appear_change_and_vanish() -> None:
    world = agenda_world(12)
    happened: Counter[str] = Counter()
    for host in agenda_sites(world):
        days = [{event.id: event for event in true_events(world, host, EPOCH + day * DAY)} for day in range(31)]
        for before, after in pairwise(days):
            happened["appeared"] += len(after.keys() - before.keys())
            happened["vanished"] += len(before.keys() - after.keys())
            for known in before.keys() & after.keys():
                happened["renamed"] += before[known].title != after[known].title
                happened["moved"] += before[known].starts != after[known].starts
                happened["cancelled"] += before[known].cancelled != after[known].cancelled
    assert min(happened.values()) > 5
    assert len(happened) == 5


def test_a_changed_event_keeps_its_id_and_its_address() -> None:
    world = agenda_world(12)
    urls: dict[tuple[str, int], set[str]] = {}
    for host in agenda_sites(world):
        for day in range(0, 40, 4):
            for event in true_events(world, host, EPOCH + day * DAY):
                urls.setdefault((host, event.id), set()).add(event.url)
    assert all(len(known) == 1 for known in urls.values())
    assert len({url for known in urls.values() for url in known}) == len(urls)


def test_nothing_on_the_agenda_has_passed() -> None:
    world = agenda_world(12)
    for host, site in agenda_sites(world).items():
        today = EPOCH.astimezone(ZoneInfo(site.time_zone)).date()
        assert all(event.starts.date() >= today for event in true_events(world, host, EPOCH))


def test_a_busy_opening_changes_agendas_within_its_minute() -> None:
    opening = timedelta(minutes=1)
    calm, busy = agenda_world(6), agenda_world(6, WorldTerms(opening=opening))
    for world, changes in ((calm, False), (busy, True)):
        first = [true_events(world, host, EPOCH) for host in agenda_sites(world)]
        later = [true_events(world, host, EPOCH + opening) for host in agenda_sites(world)]
        assert (first != later) is changes


def test_a_declared_empty_agenda_is_the_truth() -> None:
    site = build_sites(7, 1)[0]
    ill = Timetable([ScheduledFault(host=site.host, kind="empty", fault=EmptyList(), begins=EPOCH, ends=EPOCH + DAY)])
    world = world_of([site], ill)
    assert true_events(world, site.host, EPOCH) == ()
    assert true_events(world, site.host, EPOCH + DAY)


def test_the_night_of_the_clock_change_is_on_the_agenda() -> None:
    site = build_sites(7, 1)[0]
    world = world_of(
        [site], Timetable([ScheduledFault(host=site.host, kind="dst-night", fault=DstNight(), begins=EPOCH)])
    )
    [night] = [event for event in true_events(world, site.host, EPOCH) if event.starts.hour == 2]
    assert night.starts.isoformat() == "2027-03-28T02:30:00+01:00"


def test_a_world_can_be_moved_to_real_addresses() -> None:
    world = agenda_world(3)
    moved = world.moved_to({host: f"http://127.0.0.{n}:80" for n, host in enumerate(agenda_sites(world), start=11)})
    host = next(iter(agenda_sites(world)))
    assert [event.id for event in true_events(moved, host, EPOCH)] == [
        event.id for event in true_events(world, host, EPOCH)
    ]
    assert all(event.url.startswith("http://127.0.0.11:80/") for event in true_events(moved, host, EPOCH))


def test_a_world_with_all_faults_is_deterministic_too() -> None:
    one, other = (agenda_world(10, WorldTerms(seed=3), kinds=ALL_KINDS, days=10) for _ in range(2))
    assert one.timetable.scheduled == other.timetable.scheduled
