"""Notices on both databases: written down with the change, signed, retried, never lost, never to a private address."""

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.webhooks import ATTEMPTS, next_attempt
from tidemill.store.database.database import Database
from tidemill.verticals.prices.parts import PricesParts

pytestmark = pytest.mark.shows("A5")


class Subscriber:
    """A program that is told of changes, and may be unwell."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, str], bytes]] = []
        self.answer = 200
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.heard.append((dict(request.headers), await request.read()))
        return web.Response(status=self.answer, headers={"Location": "http://127.0.0.1:1/elsewhere"})


@pytest.fixture
async def subscriber() -> AsyncIterator[Subscriber]:
    made = Subscriber()
    app = web.Application()
    app.router.add_post("/hook", made.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield made
    await runner.cleanup()


@pytest.fixture
async def market(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(database, clock, tmp_path)
    await made.shop("acme", [product_page()], visibility="ELIGIBLE")
    await made.run("acme")
    yield made
    await made.system.close()


async def change(market: Market, **said: str) -> None:
    market.show("acme", 0, product_page(**said))
    await market.run("acme")


async def test_a_price_drop_is_told_signed_and_once(market: Market, subscriber: Subscriber) -> None:
    made = await market.system.part(PricesParts).webhooks.subscribe("mine", subscriber.url, "ans")
    await change(market, price="11.96")
    assert await market.system.ticks.chores["notices"].run() == "1 notices noted, 1 of 1 taken"
    assert await market.system.ticks.chores["notices"].run() == "0 notices noted, 0 of 0 taken"
    ((headers, body),) = subscriber.heard
    stamp = headers["X-Tidemill-Timestamp"]
    expected = hmac.new(made.secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["X-Tidemill-Signature"] == f"sha256={expected}"
    notice = msgspec.json.decode(body)
    assert (notice["kind"], notice["drop_percent"], notice["key"]) == ("price_drop", 20.0, headers["Idempotency-Key"])


async def test_stock_that_is_back_is_told(market: Market, subscriber: Subscriber) -> None:
    await market.system.part(PricesParts).webhooks.subscribe("mine", subscriber.url, "ans", kinds=["back_in_stock"])
    await change(market, stock="OutOfStock")
    await change(market, stock="InStock", price="11.00")
    await market.system.part(PricesParts).notifier.notify()
    assert [msgspec.json.decode(body)["kind"] for _, body in subscriber.heard] == ["back_in_stock"]


async def test_a_subscriber_that_is_unwell_hears_later_the_same_notice(market: Market, subscriber: Subscriber) -> None:
    await market.system.part(PricesParts).webhooks.subscribe("mine", subscriber.url, "ans")
    await change(market, price="11.00")
    subscriber.answer = 302
    await market.system.part(PricesParts).notifier.notify()
    await market.system.part(PricesParts).notifier.notify()
    assert len(subscriber.heard) == 1
    (waiting,) = await market.system.part(PricesParts).webhooks.deliveries()
    assert (waiting.status, waiting.attempts, waiting.last_error) == ("pending", 1, "answered 302")
    subscriber.answer = 204
    market.clock.advance(timedelta(minutes=2))
    await market.system.part(PricesParts).notifier.notify()
    first, second = (headers["Idempotency-Key"] for headers, _ in subscriber.heard)
    assert first == second
    (done,) = await market.system.part(PricesParts).webhooks.deliveries()
    assert (done.status, done.attempts) == ("delivered", 2)


async def test_a_notice_is_given_up_after_its_attempts_and_sent_again_on_a_persons_word(
    market: Market, subscriber: Subscriber
) -> None:
    await market.system.part(PricesParts).webhooks.subscribe("mine", subscriber.url, "ans")
    await change(market, price="11.00")
    subscriber.answer = 500
    for _ in range(ATTEMPTS):
        await market.system.part(PricesParts).notifier.notify()
        market.clock.advance(timedelta(hours=6))
    assert [each.status for each in await market.system.part(PricesParts).webhooks.deliveries()] == ["failed"]
    assert await market.system.part(PricesParts).webhooks.retry("ans") == 1
    subscriber.answer = 200
    await market.system.part(PricesParts).notifier.notify()
    assert [each.status for each in await market.system.part(PricesParts).webhooks.deliveries()] == ["delivered"]


async def test_small_drops_and_other_products_are_not_told_to_who_did_not_ask(
    market: Market, subscriber: Subscriber
) -> None:
    desk = market.system.part(PricesParts).webhooks
    await desk.subscribe("big", subscriber.url, "ans", least_drop_percent=50)
    await desk.subscribe("other", subscriber.url, "ans", product_id=5)
    await change(market, price="11.00")
    assert await market.system.part(PricesParts).notifier.collect() == 0


async def test_whoever_subscribes_first_hears_of_nothing_older(market: Market, subscriber: Subscriber) -> None:
    await change(market, price="11.00")
    await market.system.part(PricesParts).webhooks.subscribe("mine", subscriber.url, "ans")
    assert await market.system.part(PricesParts).notifier.collect() == 0


async def test_two_notifiers_at_once_write_each_notice_once(market: Market, subscriber: Subscriber) -> None:
    await market.system.part(PricesParts).webhooks.subscribe("mine", subscriber.url, "ans")
    await change(market, price="11.00")
    notifier = market.system.part(PricesParts).notifier
    await asyncio.gather(notifier.collect(), notifier.collect())
    assert len(await market.system.part(PricesParts).webhooks.deliveries()) == 1


@pytest.mark.parametrize("url", ["http://10.0.0.7/hook", "http://169.254.169.254/", "ftp://a.example/", "nonsense"])
async def test_an_address_that_the_guard_refuses_is_not_subscribed(market: Market, url: str) -> None:
    with pytest.raises(Mistake):
        await market.system.part(PricesParts).webhooks.subscribe("mine", url, "ans")


def test_waits_between_attempts_double_up_to_six_hours(clock: SettableClock) -> None:
    now = clock.now()
    moments = [next_attempt(number, now) for number in range(1, ATTEMPTS)]
    waits = [moment - now for moment in moments if moment is not None]
    assert len(waits) == len(moments)
    assert waits[:3] == [timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4)]
    assert max(waits) <= timedelta(hours=6)
    assert next_attempt(ATTEMPTS, now) is None
