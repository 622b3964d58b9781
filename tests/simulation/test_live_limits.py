"""The live lane at its limits: memory, caps of watches, retries of one scrape, and what a host asks for."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from rig.clock import NOON
from rig.live_world import json_response
from rig.match_chaos import ShakyBrowser
from tidemill.core.failure import Failure
from tidemill.core.health.contexts import MEBIBYTE, ContextUsage, RestartReason
from tidemill.core.source import FetcherKind
from tidemill.pipeline.happenings import BreakerMoved
from tidemill.pipeline.ports import WireFailure, WireResponse
from tidemill.store.schema import sources

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


class Machine:
    """A process's machine, with as much memory free and taken by its browser as the test sets."""

    def __init__(self):
        self.free = 4_000_000_000
        self.browser = 300 * MEBIBYTE

    def parts(self):
        return {
            "free_memory": lambda: self.free,
            "browser_usage": lambda: ContextUsage(memory_bytes=self.browser, browser_pid=7),
            "browser": lambda inner: ShakyBrowser(inner, lambda: False),
        }


async def with_a_browser(world):
    """Let the pages of all sources need a browser."""
    async with world.database.write() as connection:
        await connection.execute(sources.update().values(fetcher=FetcherKind.BROWSER.value))


@pytest.mark.shows("H1", "B3", "F9")
@pytest.mark.inventory(16)
def test_a_page_whose_browser_takes_too_much_memory_starts_anew_once_and_stays_as_fresh(live):
    async def story(world):
        machine = Machine()
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        await with_a_browser(world)
        process = world.process(machine=machine.parts())
        await world.until(MINUTE)
        [page] = [page for page in process.lane._roster.pages() if not page.is_list]
        before, generation = page.status(world.clock.now()), page.next_try(45 * SECOND, world.clock.now()).keep_open
        assert process.health.restarts == []
        machine.browser = 1_600 * MEBIBYTE
        await world.until(MINUTE + 6 * SECOND)
        machine.browser = 300 * MEBIBYTE  # its page was closed, and what it held is free
        await world.until(2 * MINUTE)
        reasons = {(context.thing_key, reason) for context, reason, _ in process.health.restarts}
        assert reasons == {("a", RestartReason.MEMORY), ("", RestartReason.MEMORY)}
        assert len(process.health.restarts) == 2  # the page of the thing and that of its list, once each
        [context] = [each for each in process.lane.contexts() if each.thing_key == "a"]
        assert context.restarts == 1
        assert context.total_updates > before.polls  # times and totals stay
        assert page.next_try(45 * SECOND, world.clock.now()).keep_open != generation  # it is opened anew
        polls = [at for at in world.sites.polls("/tally/a") if at - NOON > 50 * SECOND]
        assert max(later - sooner for sooner, later in pairwise(polls)) <= 3 * SECOND

    live(story)


@pytest.mark.shows("H1")
@pytest.mark.parametrize(
    ("needs_browser", "things", "most"), [(False, 5, {"most_watches": 3}), (True, 5, {"most_browser_watches": 3})]
)
def test_beyond_its_caps_a_process_refuses_watches_and_another_takes_them(live, needs_browser, things, most):
    async def story(world):
        for number in range(things):
            world.sites.steady(f"t{number}", MINUTE, NOON)
        await world.store.source()
        if needs_browser:
            await with_a_browser(world)
        one = world.process(machine=Machine().parts(), **most)
        await world.until(2 * MINUTE)
        assert len(one.lane.watches) == 3
        assert (one.lane.status().refused_watches > 0) is needs_browser
        other = world.process("other", machine=Machine().parts(), **most)
        await world.until(3 * MINUTE)
        assert len(other.lane.watches) == 3

    live(story)


@pytest.mark.shows("H1")
def test_with_little_memory_free_no_watch_is_taken_and_those_that_are_held_go_on(live):
    async def story(world):
        machine = Machine()
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        process = world.process(machine=machine.parts())
        await world.until(MINUTE)
        machine.free = 499_000_000
        world.sites.steady("b", 5 * SECOND, NOON)
        await world.until(3 * MINUTE)
        assert world.sites.polls("/tally/b") == []
        assert len([at for at in world.sites.polls("/tally/a") if at - NOON > MINUTE]) >= 45
        machine.free = 501_000_000
        await world.until(4 * MINUTE)
        assert len(world.sites.polls("/tally/b")) > 10
        assert len(process.lane.watches) == 3

    live(story)


@pytest.mark.shows("F3")
@pytest.mark.inventory(51, 102)
def test_one_scrape_is_tried_three_times_after_two_to_four_and_four_to_eight_seconds(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        broken = json_response({}, status=503)
        world.sites.faults.append(lambda where, at: broken if where.endswith("/a") and at - NOON >= MINUTE else None)
        process = world.process()
        await world.until(MINUTE + 20 * SECOND)
        tries = process.health.tries[:4]
        assert [each.attempt for each in tries] == [1, 2, 3, 1]  # then a new scrape begins
        second, third = [(later.at - sooner.at) / SECOND for sooner, later in pairwise(tries[:3])]
        assert 2 <= second <= 4.1
        assert 4 <= third <= 8.1

    live(story)


@pytest.mark.shows("F3")
def test_a_site_that_asks_to_be_left_alone_is_left_alone_for_so_long(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        slow_down = WireResponse(status_code=429, headers={"retry-after": "30"}, body=b"slow down")
        told: list[datetime] = []

        def fault(where, at):
            if where.endswith("/a") and at - NOON >= MINUTE and not told:
                told.append(at)
                return slow_down
            return None

        world.sites.faults.append(fault)
        world.process()
        await world.until(2 * MINUTE)
        asked = [at for at, host, _ in world.sites.asked if at > told[0]]
        assert asked[0] - told[0] >= 30 * SECOND  # also for other pages of the host
        assert len(asked) > 5

    live(story)


@pytest.mark.shows("F3")
def test_what_fails_for_good_is_not_tried_again_within_its_scrape(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        lost = WireFailure(failure=Failure.DNS_FAILED, detail="no such name")
        world.sites.faults.append(lambda where, at: lost if where.endswith("/a") and at - NOON >= MINUTE else None)
        process = world.process()
        await world.until(MINUTE + 15 * SECOND)
        assert {each.attempt for each in process.health.tries} == {1}

    live(story)


@pytest.mark.shows("H2", "B16")
def test_a_cut_opens_no_breaker_although_one_host_is_asked_only_each_minute(live):
    async def story(world):
        for host in ("arena", "court"):
            for number in range(8):
                world.sites.steady(f"{host}{number}", 5 * SECOND, NOON, host=f"{host}.test")
            await world.store.source(host)
        world.sites.steady("seldom", MINUTE, NOON, host="field.test")
        world.sites.phases["seldom"] = "break"
        await world.store.source("field")
        process = world.process()
        await world.until(3 * MINUTE)
        lost = WireFailure(failure=Failure.CONNECTION_LOST, detail="cut")
        begins, ends = NOON + 3 * MINUTE, NOON + 3 * MINUTE + 30 * SECOND
        world.sites.faults.append(lambda _path, at: lost if begins <= at < ends else None)
        await world.until(5 * MINUTE)
        assert process.of(BreakerMoved) == []
        polls = [at for at in world.sites.polls("/tally/arena3") if at >= ends]
        assert polls[0] - ends <= 20 * SECOND

    live(story)
