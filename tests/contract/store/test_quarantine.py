"""What was set aside, on both databases: released with the reviewer's name, rejected, in bulk, reasons kept."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.core.views import DeadLetterFilter
from tidemill.core.views.quality import QuarantineFilter
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.store.database.database import Database
from tidemill.verticals.prices.parts import PricesParts

ZERO = product_page(price="0.00")


@pytest.fixture
async def market(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(database, clock, tmp_path)
    pages = [ZERO.replace("H9-50", f"S{number}") for number in range(3)]
    await made.shop("acme", pages, visibility="ELIGIBLE")
    await made.run("acme")
    yield made
    await made.system.close()


async def test_a_record_is_released_once_a_person_has_put_it_right(market: Market) -> None:
    desk = market.system.actions.quarantine
    record = (await desk.every())[0]
    with pytest.raises(Mistake, match="ZERO_PRICE_EXTRACTED"):
        await desk.release(record.id, "ans")
    done = await desk.release(record.id, "ans", "they told me", {"price": "12.50"})
    assert (done.review, done.reviewed_by, done.review_notes) == ("released", "ans", "they told me")
    assert done.reason == "ZERO_PRICE_EXTRACTED"
    (offer,) = await market.system.part(PricesParts).store.views.offers()
    assert offer.price_cents == 1250
    with pytest.raises(Mistake, match="released by ans"):
        await desk.reject(record.id, "ans")
    assert await market.system.store.views.dead_letters(DeadLetterFilter()) == []


@pytest.mark.shows("N1")
async def test_a_page_that_is_set_aside_again_and_again_is_no_failure_and_has_one_open_row(market: Market) -> None:
    for _ in range(5):
        await market.run("acme")
    rows = await market.system.actions.quarantine.every()
    assert sorted((row.reason, row.times) for row in rows) == [("ZERO_PRICE_EXTRACTED", 6)] * 3
    assert len({row.run_id for row in rows}) == 1
    assert await market.system.store.views.dead_letters(DeadLetterFilter()) == []
    targets = await market.system.store.views.targets()
    assert {(one.status, one.consecutive_failures, one.last_status) for one in targets} == {
        ("ACTIVE", 0, "NOTHING_ACCEPTED")
    }
    runs = await market.system.store.views.runs()
    assert {(run.urls_failed, run.urls_succeeded, run.status) for run in runs} == {(0, 3, "QUARANTINED")}
    assert not any(run.complete for run in runs)


@pytest.mark.shows("N1")
async def test_a_decided_row_is_left_alone_and_the_next_reading_opens_another(market: Market) -> None:
    desk = market.system.actions.quarantine
    await desk.reject_all(QuarantineFilter(vertical="prices"), "ans")
    await market.run("acme")
    assert sorted(row.times for row in await desk.every()) == [1, 1, 1]
    assert len(await desk.every(QuarantineFilter(waiting=False))) == 6


@pytest.mark.shows("N1")
async def test_a_record_is_rejected_and_kept_with_its_reason(market: Market) -> None:
    desk = market.system.actions.quarantine
    record = (await desk.every())[0]
    done = await desk.reject(record.id, "ans", "never a price")
    assert (done.review, done.reason) == ("rejected", "ZERO_PRICE_EXTRACTED")
    assert len(await desk.every()) == 2
    assert len(await desk.every(QuarantineFilter(waiting=False))) == 3
    actions = [noted.entry.action for noted in await market.system.store.audit.latest()]
    assert actions[0] == "quarantine.reject"
    with pytest.raises(NotFound, match="tidemill quarantine list"):
        await desk.find(5)


async def test_records_are_settled_in_bulk_and_what_the_rules_refuse_is_told(market: Market) -> None:
    desk = market.system.actions.quarantine
    tried = await desk.release_all(QuarantineFilter(reason="ZERO_PRICE_EXTRACTED"), "ans")
    assert (tried.records, len(tried.refused)) == (0, 3)
    assert (await desk.reject_all(QuarantineFilter(vertical="events"), "ans")).records == 0
    assert (await desk.reject_all(QuarantineFilter(vertical="prices"), "ans")).records == 3
    assert await desk.every() == []


@pytest.mark.shows("X9")
async def test_a_price_held_as_a_glitch_is_published_on_a_persons_word(market: Market) -> None:
    for number in range(3):
        market.show("acme", number, product_page(sku=f"S{number}"))
    await market.run("acme")
    await market.system.actions.quarantine.reject_all(QuarantineFilter(), "ans")
    market.show("acme", 0, product_page(sku="S0", price="1495.00"))
    await market.run("acme")
    (held,) = await market.system.actions.quarantine.every()
    await market.system.actions.quarantine.release(held.id, "ans", "it is gold now")
    prices = {
        offer.identity_key: offer.price_cents for offer in await market.system.part(PricesParts).store.views.offers()
    }
    assert prices["SKU:S0"] == 149500
