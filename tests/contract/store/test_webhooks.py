"""Webhooks on both databases: written down with the change, signed, retried, replayed, never to a private address."""

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from rig.clock import SettableClock
from rig.shopfront import Market, product_page
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.webhooks import ATTEMPTS, DeliveryAttempt, next_attempt
from tidemill.store.database.database import Database

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
    made = await market.system.actions.webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    await change(market, price="11.96")
    assert await market.system.ticks.chores["notices"].run() == "1 notices noted, 1 of 1 taken"
    assert await market.system.ticks.chores["notices"].run() == "0 notices noted, 0 of 0 taken"
    ((headers, body),) = subscriber.heard
    stamp = headers["X-Tidemill-Timestamp"]
    expected = hmac.new(made.secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["X-Tidemill-Signature"] == f"sha256={expected}"
    notice = msgspec.json.decode(body)
    assert (notice["kind"], notice["change"]["drop_percent"], notice["key"]) == (
        "price_drop",
        20.0,
        headers["Idempotency-Key"],
    )


async def test_stock_that_is_back_is_told(market: Market, subscriber: Subscriber) -> None:
    await market.system.actions.webhooks.subscribe(
        "mine", subscriber.url, "ans", feed="prices", kinds=["back_in_stock"]
    )
    await change(market, stock="OutOfStock")
    await change(market, stock="InStock", price="11.00")
    await market.system.actions.webhooks.notifier.notify()
    assert [msgspec.json.decode(body)["kind"] for _, body in subscriber.heard] == ["back_in_stock"]


async def test_a_subscriber_that_is_unwell_hears_later_the_same_notice(market: Market, subscriber: Subscriber) -> None:
    await market.system.actions.webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    await change(market, price="11.00")
    subscriber.answer = 302
    await market.system.actions.webhooks.notifier.notify()
    await market.system.actions.webhooks.notifier.notify()
    assert len(subscriber.heard) == 1
    (waiting,) = await market.system.actions.webhooks.deliveries()
    assert (waiting.status, waiting.attempts, waiting.last_error) == ("pending", 1, "answered 302")
    subscriber.answer = 204
    market.clock.advance(timedelta(minutes=2))
    await market.system.actions.webhooks.notifier.notify()
    first, second = (headers["Idempotency-Key"] for headers, _ in subscriber.heard)
    assert first == second
    (done,) = await market.system.actions.webhooks.deliveries()
    assert (done.status, done.attempts) == ("delivered", 2)


async def test_a_notice_is_given_up_after_its_attempts_and_sent_again_on_a_persons_word(
    market: Market, subscriber: Subscriber
) -> None:
    await market.system.actions.webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    await change(market, price="11.00")
    subscriber.answer = 500
    for _ in range(ATTEMPTS):
        await market.system.actions.webhooks.notifier.notify()
        market.clock.advance(timedelta(hours=6))
    assert [each.status for each in await market.system.actions.webhooks.deliveries()] == ["failed"]
    assert await market.system.actions.webhooks.retry("ans") == 1
    subscriber.answer = 200
    await market.system.actions.webhooks.notifier.notify()
    assert [each.status for each in await market.system.actions.webhooks.deliveries()] == ["delivered"]


async def test_small_drops_and_other_products_are_not_told_to_who_did_not_ask(
    market: Market, subscriber: Subscriber
) -> None:
    desk = market.system.actions.webhooks
    await desk.subscribe(
        "big", subscriber.url, "ans", feed="prices", kinds=["price_drop"], only={"least_drop_percent": 50}
    )
    await desk.subscribe("other", subscriber.url, "ans", feed="prices", only={"product_id": 5})
    await change(market, price="11.00")
    assert await market.system.actions.webhooks.notifier.collect() == 0


async def test_whoever_subscribes_first_hears_of_nothing_older(market: Market, subscriber: Subscriber) -> None:
    await change(market, price="11.00")
    await market.system.actions.webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    assert await market.system.actions.webhooks.notifier.collect() == 0


async def test_two_notifiers_at_once_write_each_notice_once(market: Market, subscriber: Subscriber) -> None:
    await market.system.actions.webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    await change(market, price="11.00")
    notifier = market.system.actions.webhooks.notifier
    await asyncio.gather(notifier.collect(), notifier.collect())
    assert len(await market.system.actions.webhooks.deliveries()) == 1


@pytest.mark.parametrize("url", ["http://10.0.0.7/hook", "http://169.254.169.254/", "ftp://a.example/", "nonsense"])
async def test_an_address_that_the_guard_refuses_is_not_subscribed(market: Market, url: str) -> None:
    with pytest.raises(Mistake):
        await market.system.actions.webhooks.subscribe("mine", url, "ans", feed="prices")


def test_waits_between_attempts_double_up_to_six_hours(clock: SettableClock) -> None:
    now = clock.now()
    moments = [next_attempt(number, now) for number in range(1, ATTEMPTS)]
    waits = [moment - now for moment in moments if moment is not None]
    assert len(waits) == len(moments)
    assert waits[:3] == [timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4)]
    assert max(waits) <= timedelta(hours=6)
    assert next_attempt(ATTEMPTS, now) is None


async def test_a_rotated_secret_signs_beside_the_old_one_for_a_day(market: Market, subscriber: Subscriber) -> None:
    webhooks = market.system.actions.webhooks
    old = (await webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")).secret
    new = (await webhooks.rotate("mine", "ans")).secret
    await change(market, price="11.00")
    await webhooks.notifier.notify()
    assert signers(subscriber, 0, (new, old)) == [new, old]
    market.clock.advance(timedelta(hours=25))
    await change(market, price="10.00")
    await webhooks.notifier.notify()
    assert signers(subscriber, 1, (new, old)) == [new]


def signers(subscriber: Subscriber, number: int, secrets: tuple[str, ...]) -> list[str]:
    headers, body = subscriber.heard[number]
    made = headers["X-Tidemill-Signature"].split(", ")
    signed = f"{headers['X-Tidemill-Timestamp']}.".encode() + body
    by = {"sha256=" + hmac.new(each.encode(), signed, hashlib.sha256).hexdigest(): each for each in secrets}
    return [by[each] for each in made]


async def test_a_test_notice_is_tried_once_and_kept_in_the_log(market: Market, subscriber: Subscriber) -> None:
    webhooks = market.system.actions.webhooks
    await webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    assert (await webhooks.test("mine", "ans")).status == "delivered"
    subscriber.answer = 500
    failed = await webhooks.test("mine", "ans")
    assert (failed.status, failed.last_error, failed.next_attempt_at) == ("failed", "answered 500", None)
    assert [msgspec.json.decode(body)["kind"] for _, body in subscriber.heard] == ["test", "test"]


async def test_a_delivery_is_sent_again_with_the_same_key_and_its_tries_are_kept(
    market: Market, subscriber: Subscriber
) -> None:
    webhooks = market.system.actions.webhooks
    await webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    await change(market, price="11.00")
    await webhooks.notifier.notify()
    (told,) = await webhooks.deliveries(webhook="mine")
    await webhooks.replay(told.id, "ans")
    await webhooks.notifier.notify()
    assert await webhooks.replay_since("mine", told.created_at, "ans") == 1
    await webhooks.notifier.notify()
    assert len({headers["Idempotency-Key"] for headers, _ in subscriber.heard}) == 1
    detail = await webhooks.delivery(told.id)
    assert [each.code for each in detail.tries] == [200, 200, 200]
    assert detail.body["feed"] == "prices"


async def test_a_subscriber_that_is_down_costs_a_round_one_time_out(market: Market, subscriber: Subscriber) -> None:
    webhooks = market.system.actions.webhooks
    await webhooks.subscribe("down", "http://127.0.0.1:1/hook", "ans", feed="prices")
    await webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    for price in ("11.00", "10.00", "9.50"):
        await change(market, price=price)
    sent = [each async for each in attempts(market)]
    assert sorted(each.code for each in sent) == [0, 200, 200, 200]


async def attempts(market: Market) -> AsyncIterator[DeliveryAttempt]:
    notifier = market.system.actions.webhooks.notifier
    await notifier.collect()
    for each in await notifier.deliver():
        yield each


async def test_a_paused_webhook_hears_nothing_of_the_meantime(market: Market, subscriber: Subscriber) -> None:
    webhooks = market.system.actions.webhooks
    await webhooks.subscribe("mine", subscriber.url, "ans", feed="prices")
    await webhooks.subscribe("other", subscriber.url, "ans", feed="prices")
    await webhooks.switch("mine", "ans", enabled=False)
    await change(market, price="11.00")
    await webhooks.notifier.notify()
    await webhooks.switch("mine", "ans", enabled=True)
    await webhooks.notifier.notify()
    assert [each.subscription for each in await webhooks.deliveries()] == ["other"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"feed": "price"}, "unknown feed"),
        ({"feed": "prices", "kinds": ["price_dorp"]}, "unknown kind"),
        ({"feed": "prices", "only": {"produkt": 1}}, "unknown filter"),
        ({"feed": "prices", "only": {"product_id": "many"}}, "cannot be used"),
    ],
)
async def test_what_a_feed_does_not_have_is_refused(market: Market, wanted: dict[str, Any], words: str) -> None:
    with pytest.raises(Mistake, match=words):
        await market.system.actions.webhooks.subscribe("mine", "http://127.0.0.1:9/hook", "ans", **wanted)
