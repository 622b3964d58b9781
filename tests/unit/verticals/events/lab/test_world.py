from collections import Counter
from datetime import timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from tidemill.lab.faults import ALL_KINDS, DstNight, EmptyAgenda, Spell, Timetable
from tidemill.verticals.events.lab.site import LabRequest, respond
from tidemill.verticals.events.lab.sites import Make, build_sites
from tidemill.verticals.events.lab.world import EPOCH, World, build_world

pytestmark = pytest.mark.shows("X5")

DAY = timedelta(days=1)


def test_the_same_seed_is_the_same_world() -> None:
    moments = [EPOCH + day * DAY for day in range(3)]
    answers = [
        [
            respond(world, LabRequest(site.host, path), moment)
            for moment in moments
            for site in world.sites.values()
            for path in site.paths
        ]
        for world in (build_world(5, 8), build_world(5, 8))
    ]
    assert answers[0] == answers[1]


def test_another_seed_is_another_world() -> None:
    one, other = build_world(5, 8), build_world(6, 8)
    assert set(one.sites) != set(other.sites)


def test_what_was_asked_before_does_not_change_an_answer() -> None:
    asked_often, asked_once = build_world(5, 4), build_world(5, 4)
    host, site = next(iter(asked_often.sites.items()))
    for day in range(30):
        respond(asked_often, LabRequest(host, site.paths[0]), EPOCH + day * DAY)
    late = EPOCH + 30 * DAY
    request = LabRequest(host, site.paths[0])
    assert respond(asked_often, request, late) == respond(asked_once, request, late)


def test_sites_have_names_of_their_own_and_all_makes_occur() -> None:
    sites = build_sites(7, 400)
    assert len({site.host for site in sites}) == 400
    assert {site.make for site in sites} == set(Make)
    assert {site.language for site in sites} == {"nl", "en"}
    assert {len(site.paths) for site in sites} == {1, 2, 3, 4}


def test_over_a_month_events_appear_change_and_vanish() -> None:
    world = build_world(7, 12)
    happened: Counter[str] = Counter()
    for host in world.sites:
        days = [{event.id: event for event in world.truth(host, EPOCH + day * DAY)} for day in range(31)]
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
    world = build_world(7, 12)
    urls: dict[tuple[str, int], set[str]] = {}
    for host in world.sites:
        for day in range(0, 40, 4):
            for event in world.truth(host, EPOCH + day * DAY):
                urls.setdefault((host, event.id), set()).add(event.url)
    assert all(len(known) == 1 for known in urls.values())
    assert len({url for known in urls.values() for url in known}) == len(urls)


def test_nothing_on_the_agenda_has_passed() -> None:
    world = build_world(7, 12)
    for host, site in world.sites.items():
        today = EPOCH.astimezone(ZoneInfo(site.time_zone)).date()
        assert all(event.starts.date() >= today for event in world.truth(host, EPOCH))


def test_a_busy_opening_changes_agendas_within_its_minute() -> None:
    opening = timedelta(minutes=1)
    calm, busy = build_world(7, 6), build_world(7, 6, opening=opening)
    for world, changes in ((calm, False), (busy, True)):
        first = [world.truth(host, EPOCH) for host in world.sites]
        later = [world.truth(host, EPOCH + opening) for host in world.sites]
        assert (first != later) is changes


def test_a_declared_empty_agenda_is_the_truth() -> None:
    site = build_sites(7, 1)[0]
    ill = Timetable([Spell(host=site.host, kind="empty", fault=EmptyAgenda(), begins=EPOCH, ends=EPOCH + DAY)])
    world = World(7, [site], ill)
    assert world.truth(site.host, EPOCH) == ()
    assert world.truth(site.host, EPOCH + DAY)


def test_the_night_of_the_clock_change_is_on_the_agenda() -> None:
    site = build_sites(7, 1)[0]
    world = World(7, [site], Timetable([Spell(host=site.host, kind="dst-night", fault=DstNight(), begins=EPOCH)]))
    [night] = [event for event in world.truth(site.host, EPOCH) if event.starts.hour == 2]
    assert night.starts.isoformat() == "2027-03-28T02:30:00+01:00"


def test_a_world_can_be_moved_to_real_addresses() -> None:
    world = build_world(7, 3)
    moved = world.moved_to({host: f"http://127.0.0.{n}:80" for n, host in enumerate(world.sites, start=11)})
    host = next(iter(world.sites))
    assert [event.id for event in moved.truth(host, EPOCH)] == [event.id for event in world.truth(host, EPOCH)]
    assert all(event.url.startswith("http://127.0.0.11:80/") for event in moved.truth(host, EPOCH))


def test_a_world_with_all_faults_is_deterministic_too() -> None:
    one, other = (build_world(3, 10, kinds=ALL_KINDS, days=10) for _ in range(2))
    assert one.timetable.spells == other.timetable.spells
