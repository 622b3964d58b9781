"""No reader sees a scraped price of a source that nobody has made eligible: every question is asked."""

import ast
import inspect
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.store.database.database import Database
from tidemill.store.schema import sources
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.store.tables import prices, products, source_products
from tidemill.verticals.prices.store.views import PriceReads

pytestmark = pytest.mark.shows("C5")

READ_ONLY_BY = {"visibility.py": "decides for readers", "writes.py": "writes them",
                "corrections.py": "answers people who correct them",
                "past.py": "asks the same rule for readers, as of a moment",
                "replayed_prices.py": "lays what a replay read over them",
                "stories.py": "explains them to people who sign in"}  # fmt: skip
"""Who may name the table of prices, and what for."""


@pytest.fixture
async def market(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(database, clock, tmp_path)
    await made.shop("acme", [product_page()])
    await made.run("acme")
    made.show("acme", 0, product_page(price="13.95"))
    await made.run("acme")
    yield made
    await made.system.close()


FOR_OPERATORS = {"hidden_sources"}
"""What tells an operator which sources readers do not see: names of sources, nothing that was read from them."""


A_NUMBER_ONLY = {"newest_change"}
"""Where the feed of changes stands: a count that says nothing of what was read."""


async def every_answer(market: Market) -> dict[str, object]:
    """What each public question of the readers' answers, with arguments that mean everything there is."""
    async with market.system.store.database.read() as connection:
        offer = (await connection.execute(select(source_products.c.id))).scalar_one()
        product = (await connection.execute(select(products.c.id))).scalar_one()
    arguments = {"product": (product,), "product_history": (product,), "lowest": (product,), "history": ([offer],)}
    reads = market.system.part(PricesParts).store.views
    public = [name for name, _ in inspect.getmembers(PriceReads, inspect.iscoroutinefunction) if name[0] != "_"]
    questions = [name for name in public if name not in FOR_OPERATORS | A_NUMBER_ONLY]
    found = {name: await getattr(reads, name)(*arguments.get(name, ())) for name in questions}
    found["history, raw"] = await reads.history([offer], corrected=False)
    found["product_history, raw"] = await reads.product_history(product, corrected=False)
    return found


async def test_nothing_of_an_ineligible_source_is_in_any_answer(market: Market) -> None:
    assert (await market.system.actions.sources.find("acme")).visibility == "INELIGIBLE"
    assert {name for name, answer in (await every_answer(market)).items() if answer} == set()


async def test_an_operator_is_told_whose_prices_readers_do_not_see(market: Market) -> None:
    reads = market.system.part(PricesParts).store.views
    assert await reads.hidden_sources() == ["acme"]
    async with market.system.store.database.write() as connection:
        await connection.execute(update(sources).values(visibility="ELIGIBLE"))
    assert await reads.hidden_sources() == []


async def test_everything_is_once_a_person_has_made_it_eligible(market: Market) -> None:
    async with market.system.store.database.write() as connection:
        await connection.execute(update(sources).values(visibility="ELIGIBLE"))
    assert {name for name, answer in (await every_answer(market)).items() if not answer} == set()


async def test_a_price_that_did_not_come_by_scraping_is_not_held_back(market: Market) -> None:
    async with market.system.store.database.write() as connection:
        row = dict((await connection.execute(select(prices).order_by(prices.c.id).limit(1))).mappings().one())
        fed = row | {"id": 10**9, "ingestion_run_type": "FEED", "ingestion_run_id": 10**9, "price_cents": 1111}
        await connection.execute(prices.insert(), [fed])
    found = await market.system.part(PricesParts).store.views.history([row["source_product_id"]])
    assert [(point.price_cents, point.run_type) for point in found] == [(1111, "FEED")]


async def test_no_notice_tells_of_what_readers_may_not_see(market: Market) -> None:
    await market.system.actions.webhooks.subscribe("shop", "http://127.0.0.1:9/hook", "ans", feed="prices")
    market.show("acme", 0, product_page(price="9.95"))
    await market.run("acme")
    assert await market.system.actions.webhooks.notifier.collect() == 0


def test_only_these_modules_name_the_table_of_prices(project_root: Path) -> None:
    named = {
        file.name
        for file in (project_root / "src" / "tidemill").rglob("*.py")
        if "schema" not in file.parts and "migrations" not in file.parts
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module == "tidemill.verticals.prices.store.tables"
        and any(alias.name == "prices" for alias in node.names)
    }
    assert named == set(READ_ONLY_BY)
