"""One process does what its roles and lanes say, and leaves the rest to others."""

import asyncio
import json
import signal

import pytest
from aiohttp import ClientSession

from rig.engines import a_cluster, until
from rig.works import the_works
from tidemill.bootstrap.cluster.process_metrics import answering, process_telemetry
from tidemill.bootstrap.engine.workers import taken_lanes
from tidemill.operations.mistakes import Mistake
from tidemill.settings import BadSettings, load_settings
from tidemill.store.schema import jobs, tick_slots, workers
from tidemill.telemetry.metrics import Metrics
from tidemill.web.limits import ServerLimits
from tidemill.web.process_app import process_app
from tidemill.web.serve import serve


@pytest.fixture
async def works(migrated_postgres_url):
    async with the_works(migrated_postgres_url) as view:
        yield view


@pytest.fixture
async def cluster(nursery, works, tmp_path):
    async with a_cluster(nursery, tmp_path, database=works.url, look_again_seconds=1, web_port=0) as made:
        yield made


@pytest.mark.parametrize(
    ("settings", "lanes"),
    [
        ({}, ("http", "browser", "scrapingbee", "apify", "live")),
        ({"lanes": ["http"]}, ("http", "scrapingbee", "apify")),
        ({"lanes": ["live", "browser"]}, ("browser", "live")),
        ({"roles": ["web", "ticks"]}, ()),
    ],
)
def test_lanes_of_a_process(settings, lanes):
    assert taken_lanes(load_settings(**settings)) == lanes


@pytest.mark.parametrize("settings", [{"roles": ["wbe"]}, {"lanes": ["https"]}, {"roles": []}])
def test_an_unknown_role_or_lane_is_refused(settings):
    with pytest.raises(BadSettings, match=r"roles|lanes"):
        load_settings(**settings)


@pytest.mark.shows("D2")
async def test_a_worker_takes_jobs_and_leaves_periodic_work_to_the_process_of_ticks(cluster, works, site):
    await works.source(site)
    await works.make_due()
    worker = await cluster.start("up", "--role", "worker", "--lane", "http")
    await until(lambda: is_there(works, "http scrapingbee apify"), "the worker is registered with its lanes")
    assert await works.count(tick_slots) == 0
    await cluster.start("up", "--role", "ticks")
    await until(lambda: are_done(works), "every job is done")
    assert {row["lanes"] for row in await works.rows(workers)} == {"http scrapingbee apify", ""}
    worker.signal(signal.SIGTERM)
    assert await worker.ended() == 0


async def is_there(works, lanes):
    return bool(await works.rows(workers, lanes=lanes))


async def are_done(works):
    rows = await works.rows(jobs)
    return bool(rows) and {row["status"] for row in rows} == {"done"}


async def test_a_process_of_the_web_app_alone_is_no_worker(cluster, works):
    web = await cluster.start("up", "--role", "web")
    await web.until("print", lambda said: "Tidemill is up; see http" in said["line"])
    web.signal(signal.SIGTERM)
    assert await web.ended() == 0
    assert await works.count(workers) == 0


@pytest.fixture
async def asked():
    async with ClientSession() as session:

        async def ask(address, **headers):
            async with session.get(address, headers=headers) as answer:
                return answer.status, await answer.text()

        yield ask


@pytest.mark.shows("D2", "H6")
async def test_a_process_without_the_web_app_tells_prometheus_what_it_does(works, nursery, tmp_path, site, asked):
    await works.enqueue(await works.source(site))
    settings = {"database": works.url, "metrics_port": 0, "worker_name": "digger", "look_again_seconds": 1}
    async with a_cluster(nursery, tmp_path, **settings) as cluster:
        worker = await cluster.start("up", "--role", "worker", "--lane", "http")
        said = await worker.until("print", lambda said: "metrics at http" in said["line"])
        address = said["line"].partition("metrics at ")[2].split("/metrics")[0]
        await until(lambda: are_done(works), "every job is done")

        async def is_counted() -> bool:  # counted once committed, which is a moment after the rows say so
            return 'scraper_stages_done_total{stage="persist"} 6.0' in (await asked(f"{address}/metrics"))[1]

        await until(is_counted, "every job is counted")
        status, numbers = await asked(f"{address}/metrics")
        assert status == 200
        assert 'tidemill_process_info{lanes="http scrapingbee apify",roles="worker",worker="digger"} 1.0' in numbers
        status, alive = await asked(f"{address}/alive")
        assert (status, json.loads(alive)["worker"]) == (200, "digger")
        worker.signal(signal.SIGTERM)
        assert await worker.ended() == 0


async def test_numbers_are_for_whoever_has_the_token_that_a_process_lives_is_for_all(asked):
    app = process_app(Metrics(), lambda: {"alive": True}, "watcher")
    ready = asyncio.get_running_loop().create_future()
    behind = ServerLimits(trusted_proxies=("127.0.0.1",))  # so that a caller can seem to be elsewhere
    serving = asyncio.create_task(serve(app, "127.0.0.1", 0, ready=ready.set_result, limits=behind))
    address, elsewhere = await ready, {"X-Forwarded-For": "192.0.2.7"}
    try:
        assert (await asked(f"{address}/metrics", **elsewhere))[0] == 401
        assert (await asked(f"{address}/metrics", **elsewhere, Authorization="Bearer wrong"))[0] == 401
        assert (await asked(f"{address}/metrics", **elsewhere, Authorization="Bearer watcher"))[0] == 200
        assert (await asked(f"{address}/alive", **elsewhere))[0] == 200
    finally:
        serving.cancel()
        await asyncio.wait([serving])


async def test_numbers_are_not_shown_to_everybody_by_mistake():
    settings = load_settings(metrics_port=0, web_host="192.0.2.1")
    with pytest.raises(Mistake, match="set watch_token"):
        async with answering(settings, process_telemetry(settings)):
            pass
