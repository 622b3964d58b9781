"""Three shops of the lab through the whole system: what they yield, what a redesign does, and how it ends."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from rig.clock import NOON, SettableClock, seeded_dice
from rig.scraped import work_off
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System, build
from tidemill.core.failure import Failure
from tidemill.lab.faults import Redesign, RobotsChange, ScheduledFault, Timetable
from tidemill.lab.transport import LabTransport
from tidemill.lab.world import WorldTerms
from tidemill.pipeline.happenings import AdapterDisabled, DriftNoticed
from tidemill.settings import Settings
from tidemill.store.database.database import open_database
from tidemill.store.schema import jobs, runs, sources
from tidemill.verticals.prices.lab.faults import CurrencyFlip, RedirectsToList
from tidemill.verticals.prices.lab.group import shop_world
from tidemill.verticals.prices.lab.shop import build_shops, truth
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.reasons import DropReason, reason_of
from tidemill.verticals.prices.store.tables import prices

HOURS = timedelta(hours=1)
REDESIGNED = "northgate-outfitters"


class Street:
    """The shops, and the system that watches them."""

    def __init__(self, url: str, clock: SettableClock, folder: Path, scheduled: list[ScheduledFault]) -> None:
        self.clock = clock
        self.heard: list[Any] = []
        self.shops = build_shops(7, 3, NOON)
        self.world = shop_world(self.shops, Timetable(scheduled), WorldTerms(start=NOON))
        self.wire = LabTransport(self.world, clock)
        options = Settings(allow_networks=["127.0.0.0/8"], pages_folder=folder)
        self.system: System = build(
            options, announce=Listeners(self.heard.append), clock=clock, dice=seeded_dice(),
            database=open_database(url), transport=self.wire,
        )  # fmt: skip

    async def open(self) -> None:
        """Bring the shops in."""
        done = await self.system.actions.importer.source_entries(self.world.sources(interval_seconds=0), "ans")
        assert not done.problems, done.problems
        await self.system.worker.sign_in()

    async def scheduled(self) -> None:
        """Let the next four hours' schedule be done."""
        self.clock.set(self.clock.now().replace(minute=5) + 4 * HOURS)
        await self.system.ticks.chores["dispatch"].run()
        await work_off(self.system, self.clock)

    async def rows(self, table: Any) -> list[Any]:
        """Rows in order of key."""
        async with self.system.store.database.read() as connection:
            return list((await connection.execute(select(table).order_by(*table.primary_key.columns))).mappings())

    def told(self, kind: type) -> list[Any]:
        """What was announced of a kind."""
        return [each for each in self.heard if isinstance(each, kind)]


def fault_at(kind: str, fault: Any, host: str, begins: timedelta, lasts: timedelta) -> ScheduledFault:
    return ScheduledFault(host=f"{host}.test", kind=kind, fault=fault, begins=NOON + begins, ends=NOON + begins + lasts)


@pytest.fixture
async def street(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Street]:
    made = Street(migrated_sqlite_url, clock, tmp_path / "pages", getattr(request, "param", []))
    await made.open()
    yield made
    await made.system.close()


@pytest.mark.shows("C7")
async def test_over_nine_in_ten_pages_give_an_offer_and_it_is_the_true_one(street: Street) -> None:
    await street.scheduled()
    async with street.system.store.database.write() as connection:
        await connection.execute(update(sources).values(visibility="ELIGIBLE"))
    found = {
        offer.url: (offer.price_cents, offer.currency)
        for offer in await street.system.part(PricesParts).store.views.offers(limit=500)
    }
    asked = {
        offer.url: (offer.price_cents, offer.currency)
        for shop in street.shops
        for offer in truth(shop, street.clock.now())
        if offer.price_cents is not None
    }
    right = sum(found.get(url) == price for url, price in asked.items())
    assert right > 0.9 * len(asked)
    for run in await street.rows(runs):
        assert run["records_accepted"] + run["oos_no_price_count"] > 0.9 * run["urls_attempted"], dict(run)


@pytest.mark.shows("C4")
async def test_prices_move_over_a_day_and_every_move_is_kept(street: Street) -> None:
    for _ in range(6):
        await street.scheduled()
    kept = await street.rows(prices)
    assert len({(row["source_product_id"], row["price_cents"]) for row in kept}) > len(
        {row["source_product_id"] for row in kept}
    )
    assert street.told(AdapterDisabled) == []


@pytest.mark.shows("R5")
@pytest.mark.parametrize(
    "street", [[fault_at("redesign", Redesign(), REDESIGNED, 6 * HOURS, 8 * HOURS)]], indirect=True
)
async def test_a_redesign_switches_off_one_adapter_alone_is_told_once_and_a_person_ends_it(street: Street) -> None:
    for _ in range(3):
        await street.scheduled()
    assert await street.system.store.agenda.disabled_adapters() == {"prices.template"}
    assert [told.rule for told in street.told(DriftNoticed)] == ["failures"]
    assert [told.adapter_id for told in street.told(AdapterDisabled)] == ["prices.template"]
    await street.scheduled()
    owner = (await street.system.actions.sources.find(REDESIGNED)).id
    latest = [run for run in await street.rows(runs) if run["started_at"] >= street.clock.now() - HOURS]
    assert owner not in {run["source_id"] for run in latest}
    assert {run["status"] for run in latest} <= {"SUCCESS", "PARTIAL"}
    done = await street.system.actions.adapters.enable("prices.template", "ans")
    assert done.dry_run.pages > 0
    await street.scheduled()
    assert await street.system.store.agenda.disabled_adapters() == set()
    assert (await street.rows(runs))[-1]["records_accepted"] > 0
    assert len(street.told(AdapterDisabled)) == 1


@pytest.mark.shows("X9")
@pytest.mark.parametrize(
    "street", [[fault_at("flip", CurrencyFlip(), "harbour-supply", 6 * HOURS, 4 * HOURS)]], indirect=True
)
async def test_a_currency_that_flips_for_a_while_is_never_published(street: Street) -> None:
    for _ in range(3):
        await street.scheduled()
    owner = (await street.system.actions.sources.find("harbour-supply")).id
    assert {row["currency"] for row in await street.rows(prices) if row["source_id"] == owner} == {"GBP"}


@pytest.mark.shows("B13")
@pytest.mark.parametrize(
    "street", [[fault_at("list", RedirectsToList(), "prairie-ammo", 6 * HOURS, 4 * HOURS)]], indirect=True
)
async def test_pages_that_lead_to_the_list_are_no_products(street: Street) -> None:
    await street.scheduled()
    before = len(await street.rows(prices))
    owner = (await street.system.actions.sources.find("prairie-ammo")).id
    await street.scheduled()
    added = (await street.rows(prices))[before:]
    assert owner not in {row["source_id"] for row in added}


@pytest.mark.shows("F5")
@pytest.mark.parametrize(
    "street", [[fault_at("robots-change", RobotsChange(), "harbour-supply", -HOURS, 24 * HOURS)]], indirect=True
)
async def test_products_that_robots_txt_closes_are_dropped_for_that_reason_and_never_asked_for(street: Street) -> None:
    await street.scheduled()
    owner = (await street.system.actions.sources.find("harbour-supply")).id
    closed = [job for job in await street.rows(jobs) if job["source_id"] == owner]
    assert closed
    reasons = {reason_of(Failure(job["failure"]), job["last_error"]) for job in closed}
    assert reasons == {DropReason.BLOCKED_BY_ROBOTS_TXT}
    (run,) = [run for run in await street.rows(runs) if run["source_id"] == owner]
    assert (run["urls_refused"], run["urls_failed"]) == (len(closed), 0)
    assert {visit.path for visit in street.wire.visits if visit.host == "harbour-supply.test"} == {"/robots.txt"}
    assert owner not in {row["source_id"] for row in await street.rows(prices)}
