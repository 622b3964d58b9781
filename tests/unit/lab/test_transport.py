import asyncio
import zlib
from datetime import datetime, timedelta
from typing import Any

import pytest

from tidemill.core.failure import Failure
from tidemill.lab.faults import (
    ALL_KINDS,
    Fault,
    Forbidden403,
    HugePage,
    Outage,
    ScheduledFault,
    SlowDrip,
    TimeOut,
    Timetable,
    TruncatedBody,
)
from tidemill.lab.messages import LabRequest
from tidemill.lab.transport import LabTransport, LabVisit
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.lab.world import EPOCH, World, WorldTerms
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse
from tidemill.verticals.events.lab.group import agenda_sites, agenda_world, world_of
from tidemill.verticals.events.lab.sites import build_sites

pytestmark = pytest.mark.shows("X5")

Answer = WireResponse | WireFailure
[SITE] = build_sites(7, 1)


def world_with(*faults: Fault) -> World:
    return world_of(
        [SITE], Timetable(ScheduledFault(host=SITE.host, kind="x", fault=fault, begins=EPOCH) for fault in faults)
    )


def ask(url: str, **changes: Any) -> WireRequest:
    terms: dict[str, Any] = {"headers": {}, "timeout": timedelta(seconds=30), "max_bytes": 10_000_000} | changes
    return WireRequest(url=url, **terms)


async def at_once() -> None:
    """Nothing holds the request back."""


def sent(world: World, url: str = SITE.origin + SITE.paths[0], **terms: Any) -> tuple[Answer, timedelta, LabTransport]:
    async def main(clock: VirtualClock) -> tuple[Answer, timedelta, LabTransport]:
        transport = LabTransport(world, clock)
        answer = await transport.send(ask(url, **terms), at_once)
        await transport.close()
        return answer, clock.now() - EPOCH, transport

    return run_virtual(main, EPOCH)


def test_a_page_comes_as_the_site_shows_it_and_takes_a_moment() -> None:
    answer, took, transport = sent(world_with())
    [visit] = transport.visits
    assert answer.body == world_with().respond(LabRequest(SITE.host, SITE.paths[0]), visit.at).body
    assert answer.cut is None
    assert timedelta(milliseconds=40) < took < timedelta(milliseconds=500)
    assert EPOCH < visit.at < EPOCH + took


@pytest.mark.parametrize(
    ("faults", "later", "milliseconds"),
    [((), 14, 0), ((), 16, 20), ((TruncatedBody(),), 1, 20)],
)
def test_a_connection_is_kept_for_a_while_after_a_whole_answer(faults: Any, later: int, milliseconds: int) -> None:
    async def main(clock: VirtualClock) -> timedelta:
        transport = LabTransport(world_with(*faults), clock)
        await transport.send(ask(SITE.origin + SITE.paths[0]), at_once)
        asked_at = clock.now() + timedelta(seconds=later)
        await clock.sleep_until(asked_at)
        await transport.send(ask(SITE.origin + "/robots.txt"), at_once)
        return transport.visits[1].at - asked_at

    assert run_virtual(main, EPOCH) == timedelta(milliseconds=milliseconds)


def test_two_requests_at_once_have_a_connection_each() -> None:
    async def main(clock: VirtualClock) -> list[datetime]:
        transport = LabTransport(world_with(), clock)
        await transport.send(ask(SITE.origin + "/robots.txt"), at_once)
        pages = [transport.send(ask(SITE.origin + SITE.paths[0]), at_once) for _ in range(2)]
        await asyncio.gather(*pages)
        return [visit.at for visit in transport.visits[1:]]

    first, second = run_virtual(main, EPOCH)
    assert first < second


def test_a_request_goes_out_when_it_may() -> None:
    async def main(clock: VirtualClock) -> datetime:
        async def in_an_hour() -> None:
            await clock.sleep_until(EPOCH + timedelta(hours=1))

        transport = LabTransport(world_with(), clock)
        await transport.send(ask(SITE.origin + "/robots.txt"), in_an_hour)
        return transport.visits[0].at

    assert run_virtual(main, EPOCH) == EPOCH + timedelta(hours=1)


def test_conditions_are_heard() -> None:
    first = sent(world_with())[0]
    again = sent(world_with(), headers={"If-None-Match": first.headers["etag"]})[0]
    assert again.status_code == 304


def test_a_name_that_nobody_has_is_not_found() -> None:
    answer, _, transport = sent(world_with(), "https://nowhere.test/")
    assert answer.failure is Failure.DNS_FAILED
    assert transport.visits == []


def test_a_hang_lasts_as_long_as_the_request_allows() -> None:
    answer, took, _ = sent(world_with(TimeOut()), timeout=timedelta(seconds=12))
    assert answer.failure is Failure.TIMED_OUT
    assert timedelta(seconds=12) <= took < timedelta(seconds=13)


def test_a_drip_that_is_too_slow_leaves_a_part() -> None:
    slow = world_with(SlowDrip(timedelta(seconds=5), 20))
    answer, took, _ = sent(slow, timeout=timedelta(seconds=30))
    whole, took_whole, _ = sent(slow, timeout=timedelta(seconds=200))
    assert answer.cut is Failure.TIMED_OUT
    assert 0.2 < len(answer.body) / len(whole.body) < 0.4
    assert took < timedelta(seconds=31)
    assert whole.cut is None
    assert took_whole > timedelta(seconds=100)


def test_a_cut_body_is_a_part_and_says_so() -> None:
    answer = sent(world_with(TruncatedBody(0.4)))[0]
    assert answer.cut is Failure.TRUNCATED_BODY
    assert 0 < len(answer.body) < len(sent(world_with())[0].body)


def test_in_an_outage_no_site_is_reached() -> None:
    answer, _, transport = sent(world_with(Outage()))
    assert answer.failure is Failure.CONNECTION_LOST
    assert transport.visits == []


def test_a_huge_page_is_cut_at_the_cap_or_small_behind_gzip() -> None:
    plain = sent(world_with(HugePage(200)), max_bytes=1_500_000)[0]
    assert (len(plain.body), plain.cut) == (1_500_000, Failure.TOO_LARGE)
    packed = sent(world_with(HugePage(200)), headers={"Accept-Encoding": "gzip"})[0]
    assert packed.cut is None
    assert len(zlib.decompressobj(wbits=31).decompress(packed.body, 20_000_000)) == 20_000_000


def test_a_page_over_the_cap_is_cut() -> None:
    answer = sent(world_with(), max_bytes=100)[0]
    assert (len(answer.body), answer.cut) == (100, Failure.TOO_LARGE)


def test_an_error_is_an_answer() -> None:
    assert sent(world_with(Forbidden403()))[0].status_code == 403


@pytest.mark.parametrize("seed", [1, 2])
def test_a_day_of_visits_is_the_same_twice(seed: int) -> None:
    async def a_day(clock: VirtualClock) -> tuple[list[Answer], list[LabVisit]]:
        world = agenda_world(6, WorldTerms(seed=seed, boilerplate=False, compression=False), kinds=ALL_KINDS, days=1)
        transport = LabTransport(world, clock)
        answers: list[Answer] = []
        for hour in range(24):
            await clock.sleep_until(EPOCH + timedelta(hours=hour))
            requests = [ask(site.origin + site.paths[0]) for site in agenda_sites(world).values()]
            answers += await asyncio.gather(*(transport.send(request, at_once) for request in requests))
        return answers, transport.visits

    first, second = run_virtual(a_day, EPOCH), run_virtual(a_day, EPOCH)
    assert first == second
    assert {type(answer) for answer in first[0]} == {WireResponse, WireFailure}
