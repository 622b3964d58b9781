"""Whatever a broker holds or says, workers stay, stop when they are told to, and leave no heap of messages behind."""

import json
import re
import signal
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from rig.engines import a_cluster, until
from rig.works import the_works
from tidemill.bootstrap.cluster.celery_app import celery_app
from tidemill.core.services.degradation import Service, ServiceState
from tidemill.engine.celery.app import make_app
from tidemill.engine.celery.consumer import SturdyConsumer
from tidemill.engine.celery.wakeups import BrokerWakeups
from tidemill.settings import load_settings
from tidemill.store.schema import jobs, workers

pytestmark = pytest.mark.shows("D2", "L1")

PICKLE = {
    "body": "gASVAQ==", "content-encoding": "binary", "content-type": "application/x-python-serialize",
    "headers": {"task": "tidemill.tick", "id": "1"},
    "properties": {"delivery_tag": "1", "delivery_info": {"exchange": "", "routing_key": "scraping"},
                   "body_encoding": "base64", "correlation_id": "1"},
}  # fmt: skip
GARBAGE = ("garbage", "{}", "[1, 2]", "null", "[" * 100_000, json.dumps({"properties": {}}), json.dumps(PICKLE))
FORGED: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("tidemill.tick", ("no such chore",)), ("tidemill.tick", ({"a": 1},)), ("tidemill.drain", ([1],)),
    ("tidemill.drain", ()), ("os.system", ("true",)), ("scrape_city_task", (10**30,)), ("verify_listing", ({},)),
)  # fmt: skip


@pytest.fixture
async def works(migrated_postgres_url, redis):
    async with the_works(migrated_postgres_url, broker=redis.url) as view:
        yield view


@pytest.fixture
async def cluster(nursery, works, redis, tmp_path):
    settings = {"database": works.url, "broker": redis.url, "look_again_seconds": 1, "lanes": ["http"]}
    async with a_cluster(nursery, tmp_path, **settings) as made:
        yield made


@pytest.fixture
async def worker(cluster, redis):
    started = await cluster.start("worker", "--events")
    await until(lambda: takes_messages(redis), "the worker takes messages")
    return started


async def takes_messages(redis):
    """Whether somebody waits at the queues."""
    return b"brpop" in redis.say("CLIENT", "LIST").lower()


def connections_so_far(redis):
    """How many connections were ever made, with the one that asks."""
    found = re.search(rb"total_connections_received:(\d+)", redis.say("INFO", "stats"))
    assert found is not None
    return int(found[1])


async def is_empty(redis, queue="scraping"):
    return redis.say("LLEN", queue) == b":0\r\n"


async def the_same_worker_works_on(works, site):
    await works.enqueue(await works.source(site))

    async def all_done():
        return {row["status"] for row in await works.rows(jobs)} == {"done"}

    await until(all_done, "every job is done")
    assert await works.count(workers) == 1


async def test_what_is_no_message_costs_no_worker(worker, works, redis, site):
    for garbage in GARBAGE:
        redis.say("LPUSH", "scraping", garbage)
        await until(lambda: is_empty(redis), f"{garbage[:20]} is taken away")
    app = celery_app(load_settings(database=works.url, broker=redis.url))
    for name, words in FORGED:
        app.send_task(name, words, queue="scraping")
    await until(lambda: is_empty(redis), "forged messages are taken away")
    await the_same_worker_works_on(works, site)
    worker.signal(signal.SIGTERM)
    assert await worker.ended() == 0


@pytest.mark.parametrize(
    ("code", "trouble", "mended"),
    [
        ("WRONGTYPE", [["DEL", "scraping"], ["SET", "scraping", "another program's"]], [["DEL", "scraping"]]),
        ("OOM", [["CONFIG", "SET", "maxmemory", "1"], ["CLIENT", "KILL", "TYPE", "normal"]],
         [["CONFIG", "SET", "maxmemory", "0"]]),
        ("READONLY", [["CONFIG", "SET", "replica-serve-stale-data", "yes"], ["REPLICAOF", "127.0.0.1", "1"]],
         [["REPLICAOF", "NO", "ONE"]]),
    ],
    ids=["another program's key", "full", "a replica"],
)  # fmt: skip
async def test_a_broker_that_refuses_costs_no_worker(worker, works, redis, site, code, trouble, mended):
    for words in trouble:
        redis.say(*words)

    async def refused_twice():
        return redis.refusals(code) > 1

    await until(refused_twice, f"{code} is met, outlived and met again")
    await the_same_worker_works_on(works, site)
    for words in mended:
        redis.say(*words)
    make_app(redis.url).send_task("tidemill.drain", ("http",), queue="scraping")
    await until(lambda: is_empty(redis), "messages are taken again")
    worker.signal(signal.SIGTERM)
    assert await worker.ended() == 0


@pytest.mark.filterwarnings("ignore::celery.exceptions.CPendingDeprecationWarning")
def test_what_goes_wrong_while_a_dead_brokers_connection_is_closed_costs_no_worker(redis):
    """Celery's own fails where a message is in hand; here it does because the consumer has no pool to count."""
    app = make_app(redis.url)
    consumer = SturdyConsumer(lambda *_: None, app=app, controller=SimpleNamespace(use_eventloop=False))
    consumer.connection = connection = app.connection_for_read()
    in_hand: list[Any] = []
    connection.default_channel.basic_consume("scraping", no_ack=False, callback=in_hand.append, consumer_tag="1")
    app.send_task("tidemill.drain", ("http",), queue="scraping")
    connection.drain_events(timeout=5)
    with pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.01)
    assert len(in_hand) == 1
    redis.kill()
    consumer.on_connection_error_after_connected(ConnectionResetError())
    assert consumer.connection is None


async def test_a_worker_and_a_beat_stop_though_their_broker_answers_nobody(worker, cluster, redis):
    beat = await cluster.start("beat")
    await until(lambda: is_empty(redis, "maintenance"), "beat is heard")
    redis.freeze()
    for process in (worker, beat):
        process.signal(signal.SIGTERM)
    assert await worker.ended() == 0
    await beat.ended()


@pytest.fixture
def impatient(monkeypatch):
    for module in ("app", "mailbox"):
        monkeypatch.setattr(f"tidemill.engine.celery.{module}.BROKER_SECONDS", 0.2)


@pytest.mark.usefixtures("impatient")
async def test_a_broker_that_answers_nobody_is_named_and_heard_again(migrated_postgres_url, redis):
    async with the_works(migrated_postgres_url, broker=redis.url) as works:
        works.system.waker.wake(1)
        redis.freeze()
        works.system.waker.wake(1)
        await until(lambda: is_(works, ServiceState.DEGRADED), "the broker is named")
        redis.thaw()
        works.system.waker.wake(1)
        await until(lambda: is_(works, ServiceState.WORKS), "the broker is heard again")


async def is_(works, state):
    return any(one.service is Service.BROKER and one.state is state for one in await works.system.services.statuses())


async def test_wake_ups_that_nobody_takes_do_not_pile_up(redis):
    said = []

    async def ready():
        return {"http": 1_000, "browser": 25, "live": 0}

    async def report(trouble):
        said.append(trouble)

    wakeups = BrokerWakeups(make_app(redis.url), ready, report, jobs_per_worker=10, most=10, expires=timedelta(hours=1))
    before = connections_so_far(redis)
    for rounds in range(1, 6):
        wakeups.wake()

        async def reported(rounds=rounds):
            return len(said) >= rounds

        await until(reported, "a round is sent")
    assert set(said) == {""}
    assert connections_so_far(redis) - before <= 3  # one that asks, and those that are kept
    assert redis.say("LLEN", "scraping") == b":10\r\n"
    assert redis.say("LLEN", "scraping.browser") == b":3\r\n"
    redis.say("FLUSHALL")
    redis.say("SET", "maintenance", "another program's")
    assert await wakeups.probe() == "the broker does not answer (ResponseError)"
    await wakeups.close()
