"""The real fetcher over the lab's transport, in virtual time: what a site does, a fetch says."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.fetching.http import http_fetcher
from tidemill.lab.faults import (
    Fault,
    Forbidden403,
    HugePage,
    Outage,
    RobotsChange,
    RobotsDown,
    ScheduledFault,
    ServerError500,
    SlowDrip,
    TimeOut,
    Timetable,
    TooMany429,
    TruncatedBody,
)
from tidemill.lab.messages import LabRequest
from tidemill.lab.transport import LabTransport, LabVisit
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.lab.world import EPOCH, World
from tidemill.pipeline.ports import FetchRequest, FetchResult, FetchStatus
from tidemill.verticals.events.lab.group import world_of
from tidemill.verticals.events.lab.sites import build_sites

SITE = next(site for site in build_sites(7, 12) if not site.crawl_delay)
PAGE = SITE.origin + SITE.paths[0]
PACE = Pace(timedelta(seconds=2))


def world_with(*faults: Fault) -> World:
    return world_of(
        [SITE], Timetable(ScheduledFault(host=SITE.host, kind="x", fault=fault, begins=EPOCH) for fault in faults)
    )


def fetched(world: World, times: int = 1) -> tuple[list[FetchResult], list[LabVisit]]:
    async def main(clock: VirtualClock) -> tuple[list[FetchResult], list[LabVisit]]:
        transport = LabTransport(world, clock)
        fetcher = http_fetcher(clock, transport=transport)
        request = FetchRequest(url=PAGE, host=SITE.host, pace=PACE)
        results = await asyncio.gather(*(fetcher.fetch(request) for _ in range(times)))
        await fetcher.close()
        return list(results), transport.visits

    return run_virtual(main, EPOCH)


def test_a_page_is_fetched_as_the_site_shows_it() -> None:
    [result], visits = fetched(world_with())
    assert result.status is FetchStatus.OK
    assert result.body == world_with().respond(LabRequest(SITE.host, SITE.paths[0]), visits[-1].at).body
    assert [visit.path for visit in visits] == ["/robots.txt", SITE.paths[0]]


def test_the_site_sees_no_two_requests_closer_than_the_pace() -> None:
    _, visits = fetched(world_with(), times=10)
    assert len(visits) == 11
    assert all(later.at - earlier.at >= PACE.interval for earlier, later in pairwise(visits))


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (Forbidden403(), Failure.FORBIDDEN),
        (TooMany429(60), Failure.RATE_LIMITED),
        (ServerError500(502), Failure.SERVER_ERROR),
        (TimeOut(), Failure.TIMED_OUT),
        (SlowDrip(timedelta(seconds=5), 20), Failure.TIMED_OUT),
        (HugePage(200), Failure.TOO_LARGE),
        (TruncatedBody(0.4), Failure.TRUNCATED_BODY),
        (RobotsChange(), Failure.ROBOTS_DISALLOWED),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, Failure) else "",
)
def test_a_fault_is_told_by_its_name(fault: Fault, failure: Failure) -> None:
    [result], _ = fetched(world_with(fault))
    assert result.failure is failure


@pytest.mark.parametrize("fault", [RobotsDown(), Outage()], ids=lambda fault: type(fault).__name__)
def test_without_robots_no_page_is_asked_for(fault: Fault) -> None:
    [result], visits = fetched(world_with(fault))
    assert result.failure is not None
    assert SITE.paths[0] not in [visit.path for visit in visits]


def test_a_site_that_asks_for_time_is_heard() -> None:
    [result], _ = fetched(world_with(TooMany429(600)))
    assert result.retry_after == timedelta(seconds=600)
