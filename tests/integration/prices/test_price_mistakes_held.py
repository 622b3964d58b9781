"""Planted mistakes of an adapter of prices: each is held at the gate, and readers see nothing of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from rig.clock import NOON, SettableClock
from rig.planted_adapter import NAME, brand_for_title, lose_a_tenth, other_currency, planted, price_in_cents, refactored
from rig.shopfront import Market, product_page
from tidemill.core.replay.views import ChangeStatus
from tidemill.store.database.database import open_database
from tidemill.verticals.prices.store.tables import prices

pytestmark = pytest.mark.shows("X1", "X2")

MISTAKES = {
    "prices in cents": price_in_cents, "another currency": other_currency, "a swapped field": brand_for_title,
    "a tenth lost": lose_a_tenth,
}  # fmt: skip
SHELF = [product_page(name=f"Harrow Lamp {number} Brass", sku=f"H-{number}", price=f"{14 + number}.95")
         for number in range(12)]  # fmt: skip


@pytest.fixture
async def market(migrated_sqlite_url: str, tmp_path: Path) -> AsyncIterator[Market]:
    """A shop that was scraped once by the version of before."""
    market = Market(open_database(migrated_sqlite_url), SettableClock(NOON), tmp_path)
    await market.shop("harrow", SHELF, adapter=NAME)
    await market.run("harrow")
    assert "1 first versions" in await market.system.ticks.chores["gate_changes"].run()
    yield market
    await market.system.worker.sign_off()
    await market.system.close()


async def seen(market: Market) -> list[tuple[int, str]]:
    """Every price that was ever kept."""
    async with market.system.store.database.read() as connection:
        rows = await connection.execute(select(prices.c.price_cents, prices.c.currency).order_by(prices.c.id))
        return [(row.price_cents, row.currency) for row in rows]


@pytest.mark.parametrize("name", MISTAKES)
async def test_a_planted_mistake_is_held_and_no_reader_sees_it(market: Market, name: str) -> None:
    before = await seen(market)
    assert len(before) == len(SHELF)
    with planted("1.1.0", MISTAKES[name]):
        market.show("harrow", 0, product_page(name="Harrow Lamp 0 Brass", sku="H-0", price="13.45"))
        await market.run("harrow")
        assert await seen(market) == before
        assert "1 held" in await market.system.ticks.chores["gate_changes"].run()
        (waiting,) = await market.system.actions.replays.every(waiting=True)
        assert waiting.held_because
        await market.run("harrow")
        assert await seen(market) == before


async def test_a_refactored_adapter_of_prices_passes_without_a_person(market: Market) -> None:
    with planted("1.1.0", refactored):
        assert "1 changes passed" in await market.system.ticks.chores["gate_changes"].run()
        market.show("harrow", 0, product_page(name="Harrow Lamp 0 Brass", sku="H-0", price="13.45"))
        await market.run("harrow")
    assert (1345, "USD") in await seen(market)
    (change,) = await market.system.actions.replays.every_change()
    assert change.status is ChangeStatus.PASSED
