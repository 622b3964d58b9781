"""Prices from page to reader, on both databases: what is kept, what is linked, what is held, what only grows."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError

from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.core.views.quality import QuarantineFilter
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.database import Database
from tidemill.store.schema import rejected_records, runs
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.sources.generic import GenericShopAdapter
from tidemill.verticals.prices.store.tables import (
    price_corrections,
    prices,
    product_links,
    products,
    source_product_identifiers,
    source_products,
)
from tidemill.verticals.prices.views import OfferFilter

UPC = "036000291452"
VISIBLE = {"visibility": "ELIGIBLE"}
TRUSTED = {"visibility": "ELIGIBLE", "trust": {"upc_trusted": True}}
SOON = timedelta(minutes=15)


@pytest.fixture
async def market(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(database, clock, tmp_path)
    yield made
    await made.system.close()


async def rows(market: Market, table, **equal):
    query = select(table).order_by(*table.primary_key.columns)
    for name, value in equal.items():
        query = query.where(table.c[name] == value)
    async with market.system.store.database.read() as connection:
        return list((await connection.execute(query)).mappings())


async def history(market: Market, *, corrected: bool = True) -> list[tuple[int, str]]:
    keys = [row["id"] for row in await rows(market, source_products)]
    found = await market.system.part(PricesParts).store.views.history(keys, corrected=corrected)
    return [(point.price_cents, point.availability) for point in found]


@pytest.mark.shows("C4")
async def test_an_offer_becomes_a_product_its_identifiers_and_a_price_of_its_run(market: Market) -> None:
    await market.shop("acme", [product_page(gtin=UPC)], **VISIBLE)
    await market.run("acme")
    (product,) = await rows(market, source_products)
    (price,) = await rows(market, prices)
    (run,) = await rows(market, runs)
    assert (product["identity_key"], product["price_cents"], product["currency"]) == ("SKU:H9-50", 1495, "USD")
    assert (price["ingestion_run_type"], price["ingestion_run_id"]) == ("SCRAPE", run["id"])
    assert price["observed_at"] <= market.clock.now()
    assert (run["status"], run["records_inserted"], run["yield_rate"]) == ("SUCCESS", 1, 1.0)
    named = {(row["id_type"], row["id_value"]) for row in await rows(market, source_product_identifiers)}
    assert {("SKU", "H9-50"), ("UPC", UPC)} <= named


@pytest.mark.shows("C4")
async def test_every_reading_appends_a_price_and_updates_one_product(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    market.show("acme", 0, product_page(price="13.95"))
    await market.run("acme")
    market.show("acme", 0, product_page(price="13.95", name="Harrow 9mm Luger 115 Grain FMJ - Box of 50 Rounds"))
    await market.run("acme")
    assert await history(market) == [(1495, "IN_STOCK"), (1395, "IN_STOCK"), (1395, "IN_STOCK")]
    assert len(await rows(market, source_products)) == 1
    changes = await market.system.part(PricesParts).store.views.changes()
    assert [(change.was_cents, change.price_cents) for change in changes] == [(None, 1495), (1495, 1395)]
    assert await market.system.part(PricesParts).store.views.changes(changes[-1].seq) == []


@pytest.mark.shows("F7")
async def test_an_unchanged_page_is_seen_again_and_appends_nothing(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    await market.run("acme")
    (product,) = await rows(market, source_products)
    assert (product["times_seen"], len(await rows(market, prices))) == (2, 1)


async def test_a_new_version_of_the_adapter_reads_an_unchanged_page_anew(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    monkeypatch.setattr(GenericShopAdapter, "version", "99.0.0")
    await market.run("acme")
    await market.run("acme")
    assert [row["adapter_version"] for row in await rows(market, prices)][1:] == ["prices.generic@99.0.0"]


@pytest.mark.shows("C4")
@pytest.mark.parametrize("table", [prices, price_corrections], ids=lambda table: table.name)
async def test_the_database_refuses_to_change_or_remove_what_only_grows(market: Market, table) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    (price,) = await rows(market, prices)
    await market.system.part(PricesParts).corrections.correct(price["id"], 1500, "ans", "a typing error")
    refused = (DBAPIError, StoreError)
    for deed in (update(table).values(price_cents=1), delete(table)):
        with pytest.raises(refused, match="only grows"):
            async with market.system.store.database.write() as connection:
                await connection.execute(deed)
    empty = "DELETE FROM" if market.system.store.database.is_sqlite else "TRUNCATE"
    with pytest.raises(refused, match="only grows"):
        async with market.system.store.database.write() as connection:
            await connection.execute(text(f"{empty} {table.name}"))
    assert (await rows(market, prices))[0]["price_cents"] == 1495


@pytest.mark.shows("C4")
async def test_sqlite_cannot_be_tricked_into_replacing_a_price(
    sqlite_database: Database, clock: SettableClock, tmp_path: Path
) -> None:
    market = Market(sqlite_database, clock, tmp_path)
    await market.shop("acme", [product_page()])
    await market.run("acme")
    with pytest.raises((DBAPIError, StoreError), match="only grows"):
        async with sqlite_database.write() as connection:
            await connection.execute(text("INSERT OR REPLACE INTO prices SELECT * FROM prices"))  # the same keys again
    await market.system.close()


@pytest.mark.shows("C3")
async def test_a_product_that_a_run_brings_twice_is_priced_once_and_the_other_dropped(market: Market) -> None:
    await market.shop("acme", [product_page(), product_page()], **VISIBLE)
    await market.run("acme")
    assert len(await rows(market, prices)) == 1
    (dropped,) = await rows(market, rejected_records)
    assert (dropped["verdict"], dropped["reason"]) == ("dropped", "DUPLICATE_WITHIN_RUN")
    (run,) = await rows(market, runs)
    assert (run["records_accepted"], run["records_dropped"]) == (1, 1)


@pytest.mark.shows("C4")
async def test_a_trusted_upc_links_the_offers_of_two_shops_to_one_product(market: Market) -> None:
    await market.shop("acme", [product_page(gtin=UPC, name="Harrow 9mm", brand="Harrow")], **TRUSTED)
    await market.shop("bolt", [product_page(gtin=UPC, name="9mm by Harrow", sku="B1")], **TRUSTED)
    await market.run("acme", "bolt")
    (product,) = await rows(market, products)
    assert product["upc"] == UPC
    assert {row["reason"] for row in await rows(market, product_links)} == {"UPC"}
    detail = await market.system.part(PricesParts).store.views.product(product["id"])
    assert sorted(offer.source_name for offer in detail.offers) == ["acme", "bolt"]


@pytest.mark.shows("C4")
async def test_an_untrusted_upc_links_nothing_but_equal_attributes_do(market: Market) -> None:
    await market.shop("acme", [product_page(gtin=UPC)], **VISIBLE)
    await market.shop("bolt", [product_page(gtin=UPC, sku="B1", price="12.00")], **VISIBLE)
    await market.shop("odd", [product_page(gtin=UPC, sku="C1", name="A thing", brand=None)], **VISIBLE)
    await market.run("acme", "bolt", "odd")
    (product,) = await rows(market, products)
    assert product["upc"] is None
    assert [row["reason"] for row in await rows(market, product_links, product_id=product["id"])] == ["ATTRIBUTES"] * 2
    (waiting,) = await market.system.part(PricesParts).links.review()
    assert (waiting.source_name, waiting.reason) == ("odd", "TOO_LITTLE_KNOWN")
    (lowest,) = await market.system.part(PricesParts).store.views.lowest(product["id"])
    assert (lowest.now.source_name, lowest.ever_cents) == ("bolt", 1200)


async def test_what_a_person_links_outlasts_the_resolver(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    (link,) = await rows(market, product_links)
    await market.system.part(PricesParts).links.unlink(link["source_product_id"], "ans")
    market.show("acme", 0, product_page(name="Harrow 9mm Luger 124 Grain FMJ - 50 Rounds"))
    await market.run("acme")
    (link,) = await rows(market, product_links)
    assert (link["status"], link["product_id"], link["linked_by"]) == ("APART", None, "ans")
    made = await market.system.part(PricesParts).links.new_product(link["source_product_id"], "ans")
    assert (made.status, made.reason) == ("LINKED", "BY_HAND")
    with pytest.raises(NotFound, match="no product 7"):
        await market.system.part(PricesParts).links.link(link["source_product_id"], 7, "ans")


@pytest.mark.shows("C6")
async def test_a_correction_is_what_readers_see_and_a_revocation_takes_it_back(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    (price,) = await rows(market, prices)
    desk = market.system.part(PricesParts).corrections
    await desk.correct(price["id"], 1295, "ans", "the page was wrong")
    assert await history(market) == [(1295, "IN_STOCK")]
    assert await history(market, corrected=False) == [(1495, "IN_STOCK")]
    (offer,) = await market.system.part(PricesParts).store.views.offers()
    assert (offer.price_cents, offer.corrected) == (1295, True)
    market.clock.advance(timedelta(seconds=1))
    await desk.revoke(price["id"], "ans", "it was right after all")
    assert await history(market) == [(1495, "IN_STOCK")]
    with pytest.raises(Mistake, match="say why"):
        await desk.ignore(price["id"], "ans", " ")


@pytest.mark.shows("C6")
async def test_an_ignored_price_gives_way_to_the_one_before_it(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    market.show("acme", 0, product_page(price="1.49"))
    await market.run("acme")
    newest = (await rows(market, prices))[-1]
    assert (
        await market.system.part(PricesParts).corrections.ignore_run(newest["ingestion_run_id"], "ans", "a bad day")
        == 1
    )
    (offer,) = await market.system.part(PricesParts).store.views.offers()
    assert offer.price_cents == 1495
    assert await history(market) == [(1495, "IN_STOCK")]


@pytest.mark.shows("X9")
async def test_a_price_that_jumps_a_hundredfold_is_held_until_a_second_reading_confirms_it(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    market.show("acme", 0, product_page(price="1495.00"))
    await market.run("acme")
    assert await history(market) == [(1495, "IN_STOCK")]
    (held,) = await market.system.actions.quarantine.every()
    assert (held.reason, held.detail.partition(":")[0]) == ("DRIFT_DETECTED", "jumped")
    market.show("acme", 0, product_page(price="1495.00") + "<!-- read anew -->")
    await market.run("acme")
    assert [cents for cents, _ in await history(market)] == [1495, 149500]
    assert await market.system.actions.quarantine.every() == []
    (settled,) = await market.system.actions.quarantine.every(QuarantineFilter(waiting=False))
    assert (settled.review, settled.reviewed_by) == ("confirmed", "second reading")


@pytest.mark.shows("X9")
@pytest.mark.parametrize("page", [product_page(price="1495.00"), product_page(price="1495.00") + "<!-- anew -->"])
async def test_the_same_price_seconds_later_is_no_second_reading(market: Market, page: str) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    market.show("acme", 0, product_page(price="1495.00"))
    await market.run("acme")
    market.show("acme", 0, page)
    await market.run("acme", after=timedelta(seconds=20))
    assert [cents for cents, _ in await history(market)] == [1495]
    assert len(await market.system.actions.quarantine.every()) == 1
    await market.run("acme", after=SOON)
    assert [cents for cents, _ in await history(market)] == [1495, 149500]


@pytest.mark.shows("C5")
async def test_corrections_of_prices_that_no_reader_may_see_are_not_shown_to_readers(market: Market) -> None:
    await market.shop("acme", [product_page()])
    await market.run("acme")
    (price,) = await rows(market, prices)
    corrections = market.system.part(PricesParts).corrections
    await corrections.correct(price["id"], 1_295, "ans", "misread")
    assert len(await corrections.every()) == 1
    assert await corrections.every(visible_only=True) == []


async def test_an_unchanged_page_is_a_second_reading_too_and_comes_soon(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    market.show("acme", 0, product_page(currency="EUR"))
    await market.run("acme")
    assert len(await rows(market, prices)) == 1
    await market.run("acme", after=SOON)
    offers = await market.system.part(PricesParts).store.views.offers()
    assert [(offer.price_cents, offer.currency) for offer in offers] == [(1495, "EUR")]


@pytest.mark.shows("X9")
async def test_a_glitch_that_passes_is_refuted_and_never_seen(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    market.show("acme", 0, product_page(price="1495.00"))
    await market.run("acme")
    market.show("acme", 0, product_page(price="14.45"))
    await market.run("acme")
    assert [cents for cents, _ in await history(market)] == [1495, 1445]
    (settled,) = await market.system.actions.quarantine.every(QuarantineFilter(waiting=False))
    assert settled.review == "refuted"


@pytest.mark.shows("C2")
async def test_sold_out_without_a_price_leaves_no_price_yet_readers_see_it_out_of_stock(market: Market) -> None:
    await market.shop("acme", [product_page()], **VISIBLE)
    await market.run("acme")
    market.show("acme", 0, product_page(price=None, stock="OutOfStock"))
    await market.run("acme")
    run = (await rows(market, runs))[-1]
    assert (run["status"], run["oos_no_price_count"], run["urls_failed"]) == ("SUCCESS", 1, 0)
    (offer,) = await market.system.part(PricesParts).store.views.offers()
    assert (offer.availability, offer.price_cents) == ("OUT_OF_STOCK", 1495)
    assert await market.system.part(PricesParts).store.views.offers(OfferFilter(availability="IN_STOCK")) == []
    market.show("acme", 0, product_page())
    await market.run("acme")
    change = (await market.system.part(PricesParts).store.views.changes())[-1]
    assert (change.was_availability, change.availability) == ("OUT_OF_STOCK", "IN_STOCK")


@pytest.mark.shows("S5")
async def test_a_source_without_approval_is_not_scraped_by_schedule(market: Market) -> None:
    await market.shop("acme", [product_page()], tos={})
    market.clock.advance(timedelta(days=1))
    await market.system.worker.sign_in()
    await market.system.ticks.chores["dispatch"].run()
    await market.system.make_drain().run("http")
    assert market.front.asked == []
    assert await rows(market, prices) == []
