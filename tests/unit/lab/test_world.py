"""A world made of groups: each answers for its own hosts, and one value brings a vertical's sites to the lab."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Self

from tidemill.lab.faults import EVERYWHERE, Fault, Forbidden403, Outage, ScheduledFault, Timetable
from tidemill.lab.messages import Behaviour, LabRequest, LabResponse, html
from tidemill.lab.part import LabPart, SitesOption
from tidemill.lab.world import EPOCH, RobotsTerms, World, WorldTerms, build_world

TERMS = WorldTerms(seed=3)


class Fixtures:
    """Sites of a vertical that nobody has written yet: each shows the number of faults it suffers from."""

    def __init__(self, origins: Mapping[str, str], schedule: str = "every 6h") -> None:
        self.origins = origins
        self.schedule = schedule

    @property
    def faulty_hosts(self) -> Sequence[str]:
        return list(self.origins)

    def robots(self, host: str) -> RobotsTerms:
        return RobotsTerms(len(host), "/matches")

    def respond(self, request: LabRequest, faults: tuple[Fault, ...], moment: datetime) -> LabResponse:
        return html(200, f"{request.host}{request.path} {moment:%H:%M} {len(faults)}")

    def sources(self, pace: Mapping[str, float], schedule: str | None) -> list[dict[str, Any]]:
        return [
            {"name": host, "pace": dict(pace), "targets": [{"url": origin, "schedule": schedule or self.schedule}]}
            for host, origin in self.origins.items()
        ]

    def moved_to(self, origins: Mapping[str, str]) -> Self:
        return type(self)({host: origins[host] for host in self.origins}, self.schedule)


class Others(Fixtures):
    """Sites of another vertical, which a drawn timetable leaves alone."""

    @property
    def faulty_hosts(self) -> Sequence[str]:
        return ()


def build_fixtures(count: int, terms: WorldTerms) -> Fixtures:
    hosts = [f"match-{terms.seed}-{number}.test" for number in range(count)]
    return Fixtures({host: f"https://{host}" for host in hosts})


MATCHES = LabPart(vertical="matches", sites=SitesOption(name="matches", default=2, build=build_fixtures))
OTHERS = Others({"other.test": "https://other.test"}, "every 1h")


def world_with(*faults: ScheduledFault) -> World:
    assert MATCHES.sites is not None
    return World(TERMS, [MATCHES.sites.build(2, TERMS), OTHERS], Timetable(faults))


def test_a_vertical_brings_its_sites_in_one_value_and_each_group_answers_for_its_own() -> None:
    world = world_with()
    assert list(world.origins) == ["match-3-0.test", "match-3-1.test", "other.test"]
    assert world.respond(LabRequest("match-3-1.test", "/a"), EPOCH).body == b"match-3-1.test/a 06:00 0"
    assert world.respond(LabRequest("other.test", "/b"), EPOCH).body == b"other.test/b 06:00 0"
    assert world.robots("other.test") == RobotsTerms(10, "/matches")
    assert world.group(Others) is OTHERS


def test_nobody_answers_for_a_host_that_is_not_there() -> None:
    assert world_with().respond(LabRequest("nowhere.test", "/"), EPOCH).status == 421


def test_a_group_is_told_of_its_faults_and_not_asked_in_an_outage() -> None:
    forbidden = ScheduledFault(host="other.test", kind="forbidden", fault=Forbidden403(), begins=EPOCH)
    outage = ScheduledFault(host=EVERYWHERE, kind="outage", fault=Outage(), begins=EPOCH + timedelta(hours=1))
    world = world_with(forbidden, outage)
    assert world.respond(LabRequest("other.test", "/"), EPOCH).body == b"other.test/ 06:00 1"
    for host in world.origins:
        answer = world.respond(LabRequest(host, "/"), EPOCH + timedelta(hours=1))
        assert answer.behaviour is Behaviour.REFUSE


def test_every_source_is_on_its_groups_schedule_unless_told() -> None:
    world = world_with()
    assert [source["targets"][0]["schedule"] for source in world.sources()] == ["every 6h", "every 6h", "every 1h"]
    told = world.sources(schedule="every 5m", interval_seconds=0.5)
    assert {source["targets"][0]["schedule"] for source in told} == {"every 5m"}
    assert told[0]["pace"] == {"interval_seconds": 0.5, "burst": 1, "parallel": 1}


def test_a_moved_world_keeps_its_faults() -> None:
    forbidden = ScheduledFault(host="other.test", kind="forbidden", fault=Forbidden403(), begins=EPOCH)
    world = world_with(forbidden)
    moved = world.moved_to({host: f"http://{host}:80" for host in world.origins})
    assert moved.origins["other.test"] == "http://other.test:80"
    assert moved.faults("other.test", EPOCH) == (Forbidden403(),)


def test_a_drawn_timetable_leaves_groups_alone_that_ask_for_it() -> None:
    world = build_world(TERMS, [build_fixtures(2, TERMS), OTHERS], kinds=["forbidden"], days=10)
    assert {each.host for each in world.timetable.scheduled} == {"match-3-0.test", "match-3-1.test"}
