"""Prices over HTTP: readers' answers, and what people may do, with the gates of the schedule."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from integration.web.conftest import Answer, Browser, browsing
from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.store.database.database import open_database

ZERO = product_page(price="0.00", sku="Z")


@pytest.fixture
async def market(migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(open_database(migrated_sqlite_url), clock, tmp_path, max_pending_per_adapter=3)
    await made.shop("acme", [product_page(), product_page(sku="B", price="20.00"), ZERO], visibility="ELIGIBLE")
    await made.run("acme")
    yield made
    await made.system.close()


@pytest.fixture
async def browser(market: Market) -> AsyncIterator[Browser]:
    async for each in browsing(market.system):
        yield each


async def act(browser: Browser, path: str, body: Any = None, method: str = "POST") -> Answer:
    headers = {"X-Acting-As": "somebody else"}
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, browser.address + path, json=body or {}, headers=headers) as response,
    ):
        return Answer(response.status, response.headers, await response.read())


async def items(browser: Browser, path: str) -> list[Any]:
    answer = await browser.get(path)
    assert answer.status == 200, answer.text
    return answer.json()["items"]


@pytest.mark.shows("A1")
async def test_readers_ask_for_products_offers_history_lowest_and_changes(market: Market, browser: Browser) -> None:
    (product,) = await items(browser, "/api/v1/products?text=harrow")
    assert (product["offers"], product["lowest_cents"]) == (2, 1495)
    detail = (await browser.get(f"/api/v1/products/{product['id']}")).json()
    assert [offer["price_cents"] for offer in detail["offers"]] == [1495, 2000]
    market.show("acme", 0, product_page(price="12.95"))
    await market.run("acme")
    first = (await browser.get(f"/api/v1/products/{product['id']}/history?limit=1")).json()
    rest = await items(browser, f"/api/v1/products/{product['id']}/history?cursor={first['next']}")
    assert len(first["items"]) + len(rest) == 3
    (lowest,) = await items(browser, f"/api/v1/products/{product['id']}/lowest")
    assert (lowest["now"]["price_cents"], lowest["ever_cents"]) == (1295, 1295)
    changes = (await browser.get("/api/v1/prices/changes?limit=2")).json()
    later = await items(browser, f"/api/v1/prices/changes?cursor={changes['next']}")
    assert [(each["was_cents"], each["price_cents"]) for each in later] == [(1495, 1295)]
    assert await items(browser, "/api/v1/offers?availability=OUT_OF_STOCK") == []
    assert (await browser.get("/api/v1/products/1")).status == 404
    assert (await browser.get("/api/v1/products?cursor=x")).status == 422


@pytest.mark.shows("C6")
async def test_a_price_is_corrected_and_the_raw_view_shows_what_was_read(browser: Browser) -> None:
    (offer,) = (each for each in await items(browser, "/api/v1/offers") if each["price_cents"] == 1495)
    path = f"/api/v1/prices/{offer['price_id']}/correct"
    done = await act(browser, path, {"price_cents": 1111, "reason": "misread"})
    assert (done.status, done.json()["made_by"]) == (200, "local")
    (corrected,) = await items(browser, f"/api/v1/offers/{offer['id']}/history")
    (raw,) = await items(browser, f"/api/v1/offers/{offer['id']}/history?view=raw")
    assert (corrected["price_cents"], corrected["raw_cents"], raw["price_cents"]) == (1111, 1495, 1495)
    assert (await act(browser, path, {"price_cents": 0, "reason": "misread"})).status == 422


async def test_what_was_set_aside_is_released_over_http(browser: Browser) -> None:
    (record,) = await items(browser, "/api/v1/quarantine?source=acme")
    path = f"/api/v1/quarantine/{record['id']}/release"
    assert (await act(browser, path)).status == 422
    done = await act(browser, path, {"fields": {"price": "9.99"}, "notes": "asked them"})
    assert (done.status, done.json()["reviewed_by"]) == (200, "local")
    assert await items(browser, "/api/v1/quarantine") == []


@pytest.mark.shows("O7")
async def test_a_run_by_hand_obeys_the_gates(market: Market, browser: Browser) -> None:
    market.clock.advance(timedelta(hours=1))
    target = (await items(browser, "/api/v1/targets"))[0]
    path = f"/api/v1/targets/{target['id']}/run"
    assert (await act(browser, path)).status == 202
    await market.shop("bolt", [product_page(sku=f"B{number}") for number in range(3)])
    partly = await act(browser, "/api/v1/sources/bolt/run")
    assert (partly.status, partly.json()["jobs"], partly.json()["rejected"]) == (202, 2, 1)
    full = await act(browser, f"/api/v1/targets/{(await items(browser, '/api/v1/targets'))[-1]['id']}/run")
    assert (full.status, full.headers["Retry-After"], full.error["code"]) == (429, "300", "queue_full")
    await act(browser, "/api/v1/adapters/prices.generic/disable", {"reason": "to see"})
    assert (await act(browser, "/api/v1/sources/bolt/run")).status == 409
    enabled = await act(browser, "/api/v1/adapters/prices.generic/enable")
    assert (enabled.status, enabled.json()["dry_run"]["pages"]) == (200, 3)
    await act(browser, f"/api/v1/targets/{target['id']}/pause", {"reason": "to see"})
    assert (await act(browser, path)).status == 409


@pytest.mark.shows("S2")
async def test_targets_come_by_csv_with_bad_rows_reported_by_line(browser: Browser) -> None:
    content = "url,source,schedule\nhttps://acme.example/p/9,acme,0 */6 * * *\nnonsense,acme,\n"
    async with (
        aiohttp.ClientSession() as session,
        session.post(browser.address + "/api/v1/targets/import", data=content) as response,
    ):
        done = await response.json()
    assert (done["targets"]["created"], [problem["line"] for problem in done["problems"]]) == (1, [3])
    added = await act(browser, "/api/v1/targets", {"source": "acme", "url": "https://acme.example/p/10"})
    assert (added.status, added.json()["created_by"]) == (201, "local")


@pytest.mark.shows("A5")
async def test_links_and_webhooks_are_dealt_with_over_http(browser: Browser) -> None:
    offer = (await items(browser, "/api/v1/offers"))[0]
    apart = await act(browser, f"/api/v1/offers/{offer['id']}/unlink")
    assert apart.json()["status"] == "APART"
    linked = await act(browser, f"/api/v1/offers/{offer['id']}/link/{offer['product_id']}")
    assert linked.json()["reason"] == "BY_HAND"
    made = await act(browser, "/api/v1/webhooks", {"name": "mine", "url": "http://127.0.0.1:9/hook", "feed": "prices"})
    assert (made.status, len(made.json()["secret"])) == (201, 64)
    assert "secret" not in (await browser.get("/api/v1/webhooks")).text
    assert (await act(browser, "/api/v1/webhooks/mine", method="DELETE")).status == 200
    assert await items(browser, "/api/v1/webhooks") == []
