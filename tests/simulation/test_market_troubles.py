"""Markets in trouble, through the engine in virtual time: cut short, capped, blocked for days."""

import asyncio
import sqlite3
from datetime import timedelta

import pytest

from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.bootstrap.system import System
from tidemill.lab.dice import dice
from tidemill.lab.simulation.system_under_test import SimulatedEnvironment
from tidemill.lab.simulation.worker_control import ControlledClock, WorkerControl
from tidemill.lab.virtual import run_virtual
from tidemill.pipeline.happenings import DriftNoticed, Happening, Overdue
from tidemill.verticals.listings.lab.fortnight import GRAIN, LEASE, START, TICKS
from tidemill.verticals.listings.lab.sites import entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.world import BLOCKED, CARDS, PLACARDS, TRUNCATED, HomesWorld, MarketFault
from tidemill.verticals.listings.parts import ListingsParts

DAYS = 2.2
CUT_SHORT, BLOCKED_FOR_DAYS, CAPPED = "nyc", "boston", "hartford"
TROUBLES = (
    MarketFault(TRUNCATED, PLACARDS, CUT_SHORT, START + timedelta(hours=14), START + timedelta(hours=40)),
    *(MarketFault(BLOCKED, site, BLOCKED_FOR_DAYS, START + timedelta(hours=1), START + timedelta(days=9))
      for site in (PLACARDS, CARDS)),
)  # fmt: skip
TRIPPED = START + timedelta(hours=20)
HOUR = 3_600_000_000


class Fallout:
    """What two days of trouble left behind."""

    def __init__(self, folder, announced, tripped):
        self.announced = announced
        self.tripped = tripped
        self._database = sqlite3.connect(folder / "simulation.db")

    def ask(self, question, *values):
        return self._database.execute(question, values).fetchall()

    def close(self):
        self._database.close()


@pytest.fixture(scope="module")
def fallout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("troubles")
    announced: list[Happening] = []
    world = HomesWorld(7, START, DAYS, homes_each=40)
    control = WorkerControl()

    async def main(clock):
        environment = SimulatedEnvironment(
            folder=folder, clock=ControlledClock(clock, control, START, GRAIN), dice=dice(7, "worker"),
            transport=HomesTransport(world, clock, TROUBLES), announce=announced.append, control=control, ticks=TICKS,
            lease=LEASE, settings={}, vertical="listings",
        )  # fmt: skip
        systems: list[System] = []
        simulated = build_simulated_system(environment, systems.append)
        await simulated.prepare(entries()[:2])
        await leave_three(systems[0].part(ListingsParts).markets)
        at_work = asyncio.create_task(simulated.run())
        await clock.sleep_until(TRIPPED)
        tripped = await systems[0].part(ListingsParts).markets.explain(BLOCKED_FOR_DAYS)
        await clock.sleep_until(world.ends - GRAIN)
        simulated.stop()
        await at_work
        await simulated.close()
        return tripped

    found = Fallout(folder, announced, run_virtual(main, START))
    yield found
    found.close()


async def leave_three(desk):
    for market in await desk.every():
        if market.id not in {CUT_SHORT, BLOCKED_FOR_DAYS, CAPPED}:
            await desk.change(market.id, {"enabled": False}, "test")
    await desk.change(CAPPED, {"max_listings": 15}, "test")


@pytest.mark.shows("B6", "X6")
def test_a_market_that_is_cut_short_takes_nothing_off_and_opens_one_incident(fallout):
    short = fallout.ask(
        "SELECT complete, records_removed FROM scrape_runs WHERE scope = ? AND doubts LIKE '%are usual%'", CUT_SHORT
    )
    assert len(short) >= 3
    assert set(short) == {(0, 0)}
    ((times, closed_at, detail),) = fallout.ask(
        "SELECT times, closed_at, detail FROM incidents WHERE rule = 'short_list' AND field = ?", CUT_SHORT
    )
    assert times == len(short)
    assert closed_at is not None
    assert "nothing was taken off" in detail
    told = [one for one in fallout.announced if isinstance(one, DriftNoticed) and one.field == CUT_SHORT]
    assert [one.is_over for one in told] == [False, True]


@pytest.mark.shows("X6")
def test_a_list_is_not_followed_past_the_markets_cap_and_its_run_is_never_complete(fallout):
    capped = fallout.ask(
        "SELECT complete, truncated_pages, pages_followed FROM scrape_runs WHERE scope = ? AND source_id = "
        "(SELECT id FROM scraper_sources WHERE name = 'homes-one')", CAPPED
    )  # fmt: skip
    assert set(capped) == {(0, 1, 0)}
    followed = fallout.ask("SELECT max(pages_followed) FROM scrape_runs WHERE scope = ?", CUT_SHORT)
    assert followed[0][0] >= 1


@pytest.mark.shows("L2", "R1")
def test_a_market_that_fails_three_times_is_left_alone_but_for_a_try_a_day(fallout):
    breaker = next(step for step in fallout.tripped.steps if step.gate == "market breaker")
    assert "3 failures in a row: one fresh try a day" in breaker.detail
    start = int(START.timestamp() * 1_000_000)
    tries = [
        (started - start) / HOUR
        for (started,) in fallout.ask(
            "SELECT DISTINCT started_at FROM scrape_runs WHERE scope = ? AND trigger = 'SCHEDULED'", BLOCKED_FOR_DAYS
        )
    ]
    assert [one for one in tries if 20 < one < 27] == []
    assert [one for one in tries if 27 <= one < 28]
    assert fallout.ask("SELECT count(*) FROM listings WHERE market_id = ? AND gone_at IS NOT NULL AND gone_reason = ?",
                       BLOCKED_FOR_DAYS, "not shown any more") == [(0,)]  # fmt: skip


def test_a_doubt_about_a_market_is_announced_when_it_comes_up_and_not_every_hour(fallout):
    told = [
        one for one in fallout.announced if isinstance(one, Overdue) and one.subject == f"market {BLOCKED_FOR_DAYS}"
    ]
    assert len(told) == 1
    assert "the last try failed" in told[0].detail
