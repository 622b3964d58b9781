"""No site answers for two days: readers are served, confidence falls, markets are named; then all comes back."""

import asyncio
import sqlite3
from datetime import timedelta

import msgspec
import pytest

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.bootstrap.system import System
from tidemill.lab.dice import dice
from tidemill.lab.simulation.system_under_test import SimulatedEnvironment
from tidemill.lab.simulation.worker_control import ControlledClock, WorkerControl
from tidemill.lab.virtual import run_virtual
from tidemill.verticals.listings.lab.fortnight import GRAIN, LEASE, START, TICKS, HomesPlan, troubles
from tidemill.verticals.listings.lab.sites import entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.world import DOWN, HomesWorld
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.views import ListingFilter

pytestmark = pytest.mark.shows("L5")

MARKETS = {"nyc": 6, "cambridge": 12, "hartford": 24}
"""One of each tier, with its hours."""
PLAN = HomesPlan(days=4.8, homes_each=16, faults=(), siege=(DOWN, 1, 2))
SILENT_FROM, SILENT_UNTIL = START + timedelta(days=1), START + timedelta(days=3)


class Look(msgspec.Struct):
    """What readers and operators saw at a moment: each market's confidences, and the markets that are doubted."""

    sure: dict[str, list[int]]
    named: dict[str, str]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Looks before the silence, at ten hours of it, just before its end, and two days later; and the database."""
    folder = tmp_path_factory.mktemp("silence")
    world = HomesWorld(7, START, PLAN.days, homes_each=PLAN.homes_each)
    control = WorkerControl()

    async def main(clock):
        transport = HomesTransport(world, clock, troubles(PLAN, world))
        environment = SimulatedEnvironment(
            folder=folder, clock=ControlledClock(clock, control, START, GRAIN), dice=dice(7, "worker"),
            transport=transport, announce=lambda _: None, control=control, ticks=TICKS, lease=LEASE, settings={},
            vertical="listings",
        )  # fmt: skip
        systems: list[System] = []
        simulated = build_simulated_system(environment, systems.append)
        await simulated.prepare(entries()[:2])
        (system,) = systems
        for market in await system.part(ListingsParts).markets.every():
            if market.id not in MARKETS:
                await system.part(ListingsParts).markets.change(market.id, {"enabled": False}, "test")
        at_work = asyncio.create_task(simulated.run())
        moments = (SILENT_FROM, SILENT_FROM + timedelta(hours=10), SILENT_UNTIL, world.ends - timedelta(minutes=1))
        looks = [await look_at(system, clock, moment) for moment in moments]
        simulated.stop()
        await at_work
        await simulated.close()
        return looks

    looks = run_virtual(main, START)
    database = sqlite3.connect(folder / "simulation.db")
    yield looks, database
    database.close()


async def look_at(system, clock, moment):
    await clock.sleep_until(moment)
    sure = {}
    for market in MARKETS:
        homes = await system.part(ListingsParts).store.views.search(
            ListingFilter(market=market), clock.now(), after=None, limit=500
        )
        sure[market] = [home.freshness_confidence for home in homes]
    return Look(sure, {doubt.market: doubt.words for doubt in await system.part(ListingsParts).markets.shortfalls()})


def test_readers_are_served_while_no_site_answers_and_confidence_falls(seen):
    (before, during, *_), _ = seen
    for market in MARKETS:
        assert during.sure[market]
        assert max(during.sure[market]) < max(before.sure[market])
        assert min(during.sure[market]) >= 40


def test_readers_lose_what_nobody_could_vouch_for_in_the_end(seen):
    (*_, at_the_end, _), _ = seen
    assert at_the_end.sure == {market: [] for market in MARKETS}


def test_the_markets_that_nothing_came_from_are_named_after_two_of_their_intervals(seen):
    (before, during, at_the_end, after), _ = seen
    assert before.named == {}
    assert set(during.named) == {"nyc"}
    assert set(at_the_end.named) == set(MARKETS)
    assert "the last try failed" in at_the_end.named["hartford"]
    assert after.named == {}


def test_what_was_there_all_the_time_comes_back_without_a_second_row(seen):
    (before, _, _, after), database = seen
    for market in MARKETS:
        assert max(after.sure[market]) > 70
        assert len(after.sure[market]) > len(before.sure[market]) / 2
    twice = "SELECT address_key FROM listings WHERE address_key <> '' GROUP BY address_key HAVING count(*) > 1"
    assert database.execute(twice).fetchall() == []
    returned = "SELECT count(*) FROM record_history WHERE vertical = 'listings' AND kind = 'returned'"
    assert database.execute(returned).fetchone()[0] > 0
    removed = "SELECT count(*) FROM record_history WHERE kind = 'gone' AND created_at BETWEEN ? AND ?"
    span = [int(moment.timestamp() * 1_000_000) for moment in (SILENT_FROM, SILENT_UNTIL)]
    assert database.execute(removed, span).fetchone() == (0,)
