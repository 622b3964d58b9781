"""Without a broker, a worker hears through PostgreSQL that another process has brought work in."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from rig.engines import until
from rig.works import the_works
from tidemill.store.database.database import open_database
from tidemill.store.database.notifications import hearing, notify
from tidemill.store.schema import jobs

ONCE_A_DAY = 86_400
"""Seconds after which a worker would look by itself: no test waits for that."""
LISTENERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND query LIKE '%LISTEN%tidemill_ready%'"
)


@pytest.mark.shows("D2")
@pytest.mark.parametrize("broker", [None, "redis"])
async def test_a_worker_that_looks_once_a_day_takes_work_at_once(migrated_postgres_url, site, broker, request):
    options: dict[str, Any] = {"look_again_seconds": ONCE_A_DAY, "roles": ["worker"], "lanes": ["http"]}
    brought: dict[str, Any] = {"broker": request.getfixturevalue("redis").url} if broker else {}
    async with the_works(migrated_postgres_url, **brought) as here, the_works(migrated_postgres_url, **options) as far:
        await here.source(site)
        working = asyncio.create_task(far.system.supervisor.run())
        try:
            await until(lambda: is_listening(here), "the worker listens")
            await here.system.actions.runs.start_source("agenda", "test")
            await until(lambda: are_done(here), "every job is done")
        finally:
            far.system.supervisor.stop()
            await working


async def test_nobody_listens_through_a_pooler(migrated_postgres_url):
    heard: list[str] = []
    async with (
        the_works(migrated_postgres_url, database_pooler=True) as works,
        hearing(works.system.store.database, "tidemill_ready", heard.append),
    ):
        assert not await is_listening(works)
    assert heard == []


class ForgetfulRouter:
    """Passes bytes on, until it forgets the connections that it knew: they stay open, and nothing comes through."""

    def __init__(self, to):
        self._to = to
        self._known = []
        self._tasks = set()
        self._writers = []

    def talk(self, reader, writer):
        self._tasks.add(asyncio.create_task(self._connect(reader, writer)))

    async def _connect(self, reader, writer):
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers += [writer, far_writer]
        known = asyncio.Event()
        known.set()
        self._known.append(known)
        await asyncio.gather(self._pass(reader, far_writer, known), self._pass(far_reader, writer, known))

    async def _pass(self, reader, writer, known):
        while data := await reader.read(65_536):
            if known.is_set():
                writer.write(data)
        writer.close()

    def forget(self):
        for each in self._known:
            each.clear()

    async def close(self):
        for writer in self._writers:
            writer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *(writer.wait_closed() for writer in self._writers), return_exceptions=True)


async def test_a_connection_that_the_network_forgot_is_noticed_and_made_anew(postgres_url, monkeypatch):
    for name, seconds in (("ASKED_EVERY", 0.2), ("ANSWERS_WITHIN", 0.2), ("AGAIN_AFTER", 0.01)):
        monkeypatch.setattr(f"tidemill.store.database.notifications.{name}_SECONDS", seconds)
    url = make_url(postgres_url)
    heard: asyncio.Queue[str] = asyncio.Queue()
    router = ForgetfulRouter(url.port)
    listening = await asyncio.start_server(router.talk, "127.0.0.1", 0)
    behind = url.set(port=listening.sockets[0].getsockname()[1]).render_as_string(hide_password=False)
    near, far = open_database(postgres_url), open_database(behind)
    try:
        async with hearing(far, "tidemill_ready", heard.put_nowait):
            assert await heard.get() == ""
            router.forget()
            assert await heard.get() == ""  # it listens anew
            await notify(near, "tidemill_ready", "http")
            assert await heard.get() == "http"
    finally:
        await near.close()
        await far.close()
        listening.close()
        await router.close()


async def is_listening(works):
    async with works.system.store.database.read() as connection:
        return bool((await connection.execute(LISTENERS)).scalar())


async def are_done(works):
    rows = await works.rows(jobs)
    return bool(rows) and {row["status"] for row in rows} == {"done"}
