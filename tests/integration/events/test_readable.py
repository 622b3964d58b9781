"""The lab and the events vertical agree: what is really on a site is what our adapters read there."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.source import Coordinates, Source
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context
from tidemill.lab.faults import (
    BlockPage,
    BrokenEmpty,
    BrokenJsonLd,
    ConsentWall,
    DstNight,
    EmptyList,
    Fault,
    MalformedHtml,
    Redesign,
    ScheduledFault,
    Timetable,
    TruncatedList,
    WrongCharset,
)
from tidemill.lab.messages import LabRequest
from tidemill.lab.world import EPOCH, World
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.lab.group import agenda_sites, true_events, world_of
from tidemill.verticals.events.lab.makes import SELECTORS
from tidemill.verticals.events.lab.sites import Make, Site, build_sites
from tidemill.verticals.events.record import Event

pytestmark = pytest.mark.shows("X5")

SITES = {site.make: site for site in reversed(build_sites(7, 12))}


def world_with(site: Site, *faults: Fault) -> World:
    return world_of(
        [site], Timetable(ScheduledFault(host=site.host, kind="x", fault=fault, begins=EPOCH) for fault in faults)
    )


def context_of(world: World, url: str, moment: datetime) -> Context:
    [described] = world.sources()
    source = Source(
        id=1,
        name=described["name"],
        vertical=described["vertical"],
        base_url=described["base_url"],
        adapter_id=described["adapter"],
        language=described["language"],
        time_zone=described["time_zone"],
        city=described["city"],
        coordinates=Coordinates(described["latitude"], described["longitude"]),
        adapter_settings=described["settings"],
    )
    return Context(source, url, moment)


def read(world: World, moment: datetime = EPOCH) -> tuple[Reading, list[Event]]:
    """What the source's adapter reads on the site's first page, and what our rules accept of it."""
    [site] = agenda_sites(world).values()
    answer = world.respond(LabRequest(site.host, site.paths[0]), moment)
    url = site.origin + site.paths[0]
    page = Page(
        id=1,
        url=url,
        final_url=url,
        status_code=answer.status,
        body=answer.body,
        charset="utf-8",
        content_type=answer.headers["content-type"],
        digest=0,
        fetched_at=moment,
    )
    context = context_of(world, url, moment)
    reading = EVENTS.adapters[context.source.adapter_id].read(page, context)
    if isinstance(reading, Fail):
        return reading, []
    verdicts = [EVENTS.judge(record, context) for record in reading.records]
    return reading, [verdict.record for verdict in verdicts if isinstance(verdict, Accepted)]


def true_facts(world: World, moment: datetime = EPOCH) -> set[tuple[str, str, datetime]]:
    [site] = agenda_sites(world).values()
    return {
        (event.url, event.title, event.starts)
        for event in true_events(world, site.host, moment)
        if event.page == site.paths[0]
    }


def facts_of(events: list[Event], site: Site) -> set[tuple[str, str, datetime]]:
    zone = ZoneInfo(site.time_zone)
    return {(str(event.detail_url), event.title, event.event_date.astimezone(zone)) for event in events}


@pytest.mark.parametrize("make", list(Make))
def test_every_make_is_read_to_its_truth_over_a_month(make: Make) -> None:
    world = world_with(SITES[make])
    for day in range(0, 30, 2):
        moment = EPOCH + timedelta(days=day, hours=day % 12)
        assert facts_of(read(world, moment)[1], SITES[make]) == true_facts(world, moment)


@pytest.mark.parametrize("make", list(Make))
@pytest.mark.parametrize("fault", [MalformedHtml(), DstNight()], ids=lambda fault: type(fault).__name__)
def test_what_only_looks_bad_is_read_all_the_same(make: Make, fault: Fault) -> None:
    world = world_with(SITES[make], fault)
    assert len(read(world)[1]) == len(true_facts(world))


@pytest.mark.parametrize("make", list(Make))
def test_a_declared_empty_agenda_is_understood(make: Make) -> None:
    reading, _ = read(world_with(SITES[make], EmptyList()))
    assert isinstance(reading, Found)
    assert reading.declared_empty


@pytest.mark.parametrize("make", list(Make))
@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (BrokenEmpty(), Failure.LAYOUT_CHANGED),
        (BlockPage(), Failure.BLOCKED_PAGE),
        (ConsentWall(), Failure.BLOCKED_PAGE),
    ],
)
def test_a_page_without_its_agenda_is_a_failure_with_its_name(make: Make, fault: Fault, failure: Failure) -> None:
    reading, _ = read(world_with(SITES[make], fault))
    assert isinstance(reading, Fail)
    assert reading.failure is failure


@pytest.mark.parametrize("make", list(SELECTORS))
def test_a_redesign_is_noticed_where_selectors_were_trusted(make: Make) -> None:
    reading, _ = read(world_with(SITES[make], Redesign()))
    assert isinstance(reading, Fail)
    assert reading.failure is Failure.LAYOUT_CHANGED


@pytest.mark.parametrize("make", list(Make))
@pytest.mark.parametrize(
    "fault", [Redesign(), BrokenJsonLd(), WrongCharset(), TruncatedList()], ids=lambda fault: type(fault).__name__
)
def test_no_fault_makes_an_event_into_another(make: Make, fault: Fault) -> None:
    world = world_with(SITES[make], fault)
    addresses = {address for address, _, _ in true_facts(world)}
    assert {event.detail_url for event in read(world)[1]} <= addresses


def test_a_truncated_list_contradicts_the_total_that_its_page_claims() -> None:
    site = next(site for site in build_sites(7, 12) if site.claims_total)
    world = world_with(site, TruncatedList())
    reading, events = read(world)
    assert isinstance(reading, Found)
    assert reading.total == len(true_facts(world))
    assert len(events) < reading.total
