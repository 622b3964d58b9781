"""Celery's own tools and Flower understand our workers: lanes, queues, names of tasks, events."""

import asyncio
import json
import os
import socket
import sys
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientError, ClientSession

from rig.engines import a_cluster, until
from rig.works import the_works
from tidemill.bootstrap.cluster.celery_app import celery_app
from tidemill.settings import load_settings


@pytest.fixture
async def works(migrated_postgres_url, redis):
    async with the_works(migrated_postgres_url, broker=redis.url) as view:
        yield view


@pytest.fixture
def app(works, redis):
    return celery_app(load_settings(database=works.url, broker=redis.url))


@asynccontextmanager
async def flower(app_settings):
    """Flower on a free port, as a person starts it; the address of its API."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    words = ["-m", "celery", "-A", "tidemill.engine.celery", "flower", "--address=127.0.0.1", f"--port={port}"]
    environment = {**os.environ, **app_settings, "FLOWER_UNAUTHENTICATED_API": "true"}  # noqa: TID251 - Flower's own
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, env=environment, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


async def inspected(app, method):
    """What the one worker answers `celery inspect METHOD`."""
    answers = await asyncio.to_thread(getattr(app.control.inspect(timeout=2), method))
    return next(iter((answers or {}).values()), None)


@pytest.mark.shows("D2", "H6")
async def test_inspect_tells_lanes_and_a_worker_takes_the_queues_of_its_own(works, redis, nursery, tmp_path, app):
    settings = {"database": works.url, "broker": redis.url, "look_again_seconds": 2, "worker_name": "live:2.web1"}
    async with a_cluster(nursery, tmp_path, **settings) as cluster:
        await cluster.start("worker", "--lane", "live", "--lane", "browser")
        await until(lambda: answers(app, "ping"), "the worker answers")
        replies = await asyncio.to_thread(app.control.broadcast, "lanes", reply=True, timeout=2)
        assert [next(iter(each.values())) for each in replies] == [{"lanes": ["browser", "live"]}]
        assert next(iter(replies[0])).startswith("live:2.web1@")
        queues = {each["name"] for each in await inspected(app, "active_queues")}
        assert queues == {"scraping.browser", "scraping.live", "maintenance", "celery"}


@pytest.mark.shows("D2", "H6")
async def test_flower_shows_workers_and_tasks_by_name(works, redis, nursery, tmp_path, app):
    settings = {"database": works.url, "broker": redis.url, "look_again_seconds": 2}
    addresses = {"TIDEMILL_DATABASE": works.url, "TIDEMILL_BROKER": redis.url}
    async with a_cluster(nursery, tmp_path, **settings) as cluster, flower(addresses) as address:
        await cluster.start("worker", "--lane", "http", "--name", "digger", "--events")
        await until(lambda: answers(app, "ping"), "the worker answers")
        async with ClientSession() as session:

            async def names():
                app.send_task("tidemill.drain", ("http",), queue="scraping")
                try:
                    async with session.get(f"{address}/api/tasks") as answer:
                        tasks = json.loads(await answer.text()) if answer.status == 200 else {}
                except ClientError:
                    return False
                return {("tidemill.drain", "SUCCESS")} <= {(each["name"], each["state"]) for each in tasks.values()}

            await until(names, "Flower shows a task by its name, done")


async def answers(app, method):
    return await inspected(app, method) is not None
