"""Drift in the running system, on both databases: switched off, alone, told once, and on again by a person."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from rig.clock import SettableClock
from rig.shopfront import REDESIGNED, Market, product_page
from tidemill.core.admission import Rejection
from tidemill.core.failure import Failure
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.happenings import AdapterDisabled, DriftNoticed, JobRefused
from tidemill.store.database.database import Database
from tidemill.store.schema import adapter_status, incidents, runs, targets

pytestmark = pytest.mark.shows("R5")

BATCH = 20


@pytest.fixture
async def market(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(database, clock, tmp_path)
    yield made
    await made.system.close()


def goods(count: int = BATCH, **said):
    return [product_page(sku=f"S{number}", **said) for number in range(count)]


def redesign(market: Market, name: str) -> None:
    for number in range(BATCH):
        market.show(name, number, REDESIGNED + f"<!-- {number} {market.clock.now()} -->")


async def is_on(market: Market, adapter: str = "prices.generic") -> bool:
    return adapter not in await market.system.store.agenda.disabled_adapters()


async def rows(market: Market, table):
    async with market.system.store.database.read() as connection:
        return list((await connection.execute(select(table).order_by(*table.primary_key.columns))).mappings())


async def broken_twice(market: Market) -> None:
    await market.shop("acme", goods())
    await market.run("acme")
    for _ in range(2):
        redesign(market, "acme")
        await market.run("acme")


async def test_two_bad_batches_switch_the_adapter_off_and_each_thing_is_told_once(market: Market) -> None:
    await broken_twice(market)
    assert not await is_on(market)
    assert [told.rule for told in market.told(DriftNoticed)] == ["failures"]
    assert [(told.adapter_id, told.scope) for told in market.told(AdapterDisabled)] == [("prices.generic", "adapter")]
    (status,) = await rows(market, adapter_status)
    assert status["disabled_reason"].startswith("DRIFT_DETECTED")
    assert (status["consecutive_failed_batches"], status["last_batch_failure_rate"]) == (2, 1.0)
    (incident,) = await rows(market, incidents)
    assert (incident["rule"], incident["times"]) == ("failures", 2)


async def test_an_adapter_that_is_off_is_asked_for_nothing(market: Market) -> None:
    await broken_twice(market)
    market.front.asked.clear()
    started = await market.system.actions.runs.start_source("acme", "ans")
    assert (started.jobs, started.reason) == (0, Rejection.ADAPTER_DISABLED)
    done = await market.system.dispatcher.dispatch()
    assert (done.jobs, done.rejected) == (0, 0)
    assert market.front.asked == []


async def test_jobs_that_were_enqueued_before_are_refused(market: Market) -> None:
    await market.shop("acme", goods(3))
    await market.system.actions.runs.start_source("acme", "ans")
    await market.system.actions.adapters.disable("prices.generic", "ans", "to see")
    await market.system.worker.sign_in()
    await market.system.make_drain().run("http")
    assert market.front.asked == []
    assert {told.failure for told in market.told(JobRefused)} == {Failure.ADAPTER_OFF}


async def test_where_the_adapter_serves_others_only_the_source_it_no_longer_fits_goes_off(market: Market) -> None:
    await market.shop("bolt", goods())
    await market.run("bolt")
    await broken_twice(market)
    assert await is_on(market)
    assert (await market.system.actions.sources.find("acme")).auto_disabled
    assert not (await market.system.actions.sources.find("bolt")).auto_disabled
    assert [told.scope for told in market.told(AdapterDisabled)] == ["source"]
    await market.run("bolt")
    assert (await rows(market, runs))[-1]["status"] == "SUCCESS"


async def test_a_person_switches_it_on_after_a_dry_run_and_the_next_run_is_watched(market: Market) -> None:
    await broken_twice(market)
    with pytest.raises(Mistake, match="0 of 20 stored pages went well"):
        await market.system.actions.adapters.enable("prices.generic", "ans", careful=True)
    done = await market.system.actions.adapters.enable("prices.generic", "ans")
    assert (done.dry_run.pages, done.dry_run.well, done.adapter.enabled) == (BATCH, 0, True)
    assert await market.system.actions.incidents.every() == []
    await market.run("acme")
    assert not await is_on(market)
    assert market.told(AdapterDisabled)[-1].rule == "watched"


async def test_after_a_good_first_run_it_is_trusted_as_before(market: Market) -> None:
    await broken_twice(market)
    await market.system.actions.adapters.enable("prices.generic", "ans")
    for number, page in enumerate(goods()):
        market.show("acme", number, page)
    await market.run("acme")
    redesign(market, "acme")
    await market.run("acme")
    assert await is_on(market)


async def test_pages_sold_out_without_a_price_never_switch_it_off(market: Market) -> None:
    await market.shop("acme", goods(price=None, stock="OutOfStock"))
    for _ in range(3):
        await market.run("acme")
    assert await is_on(market)
    assert market.told(DriftNoticed) == []
    assert {row["last_status"] for row in await rows(market, targets)} <= {"SUCCESS", "UNCHANGED"}


async def test_pages_that_do_not_tell_the_stock_do(market: Market) -> None:
    await market.shop("acme", goods(stock=None))
    for _ in range(2):
        await market.run("acme")
    assert not await is_on(market)


async def test_a_zero_price_is_quarantined_and_told_of_in_a_small_batch(market: Market) -> None:
    await market.shop("acme", goods(1, price="0.00"))
    await market.run("acme")
    assert [told.rule for told in market.told(DriftNoticed)] == ["zero_price"]
    (held,) = await market.system.actions.quarantine.every()
    assert held.reason == "ZERO_PRICE_EXTRACTED"
    assert (await rows(market, runs))[-1]["status"] == "QUARANTINED"


@pytest.mark.shows("B7")
async def test_a_field_that_disappears_alarms_once_it_was_blessed(market: Market) -> None:
    await market.shop("acme", goods())
    await market.run("acme")
    (blessed,) = await market.system.actions.adapters.bless("prices.generic", "ans")
    assert blessed.shares["brand"] == 1.0
    for number, page in enumerate(goods(brand=None)):
        market.show("acme", number, page.replace('"brand": {"@type": "Brand"},', ""))
    await market.run("acme")
    assert ("field_share", "brand") in {(told.rule, told.field) for told in market.told(DriftNoticed)}
    for number, page in enumerate(goods(price="15.95")):
        market.show("acme", number, page)
    await market.run("acme")
    assert ("brand", True) in {(told.field, told.is_over) for told in market.told(DriftNoticed)}


@pytest.mark.shows("S4")
async def test_a_target_that_fails_five_times_is_broken_and_comes_back_by_itself(market: Market) -> None:
    await market.shop("acme", goods(2))
    await market.run("acme")
    for time in range(5):
        market.show("acme", 0, REDESIGNED + f"<!-- {time} -->")
        await market.run("acme")
    broken, well = await rows(market, targets)
    assert (broken["status"], well["status"]) == ("BROKEN", "ACTIVE")
    assert broken["next_due_at"] == market.clock.now() + timedelta(days=7)
    (shop,) = await market.system.store.views.sources(market.clock.now())
    assert (shop.targets, shop.targets_broken) == (2, 1)
    market.show("acme", 0, product_page(sku="S0"))
    await market.run("acme")
    assert [row["status"] for row in await rows(market, targets)] == ["ACTIVE", "ACTIVE"]
