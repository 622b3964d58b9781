"""The database is away for ten minutes, in virtual time: what was fetched is written, and nothing is fetched twice."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from rig.clock import NOON, seeded_dice
from rig.site import agenda
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import build
from tidemill.lab.virtual import run_virtual
from tidemill.pipeline.happenings import Happening, JobsRescued, LeaseLost, RunClosed, StageDone
from tidemill.pipeline.ports import StoreLost, WireResponse
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.database.sqlite import fleeting_engine
from tidemill.store.schema import dead_letters, jobs

PAGES = 6
ANSWERED_AFTER = timedelta(seconds=30)
BEGINS, ENDS = NOON + timedelta(seconds=10), NOON + timedelta(minutes=10, seconds=10)
LATER = timedelta(seconds=8)
"""How much later each worker reaches the database again than the next; the first one has the jobs."""
PACE = {"interval_seconds": 0, "burst": 1, "parallel": 100}


class AwayDatabase(Database):
    """A database that one worker cannot reach between two moments."""

    def __init__(self, file, clock, ends):
        super().__init__(fleeting_engine(file))
        self._clock = clock
        self._ends = ends

    def _reach(self):
        if BEGINS <= self._clock.now() < self._ends:
            msg = "the database does not answer"
            raise StoreLost(msg)

    @asynccontextmanager
    async def write(self):
        self._reach()
        async with super().write() as connection:
            self._reach()
            yield connection
            self._reach()

    @asynccontextmanager
    async def read(self):
        self._reach()
        async with super().read() as connection:
            yield connection

    @asynccontextmanager
    async def glance(self):
        self._reach()
        async with super().glance() as connection:
            yield connection


class SlowSite:
    """Agenda pages whose answers take half a minute; it counts who asked for what."""

    def __init__(self, clock):
        self._clock = clock
        self.asked: Counter[str] = Counter()

    async def send(self, request, depart):
        await depart()
        path = urlsplit(request.url).path
        if path == "/robots.txt":
            return WireResponse(status_code=404, headers={})
        self.asked[path] += 1
        await self._clock.sleep_until(self._clock.now() + ANSWERED_AFTER)
        body = agenda([f"Concert {path}"], NOON + timedelta(days=30)).encode()
        return WireResponse(status_code=200, headers={"content-type": "text/html; charset=utf-8"}, body=body)

    async def close(self):
        return None


def worked(file, folder, workers):
    """What became of the jobs, what was asked for and what was told by a number of workers on one database."""
    told: list[Happening] = []

    async def main(clock):
        site = SlowSite(clock)
        databases = [AwayDatabase(file, clock, ENDS + LATER * number) for number in reversed(range(workers))]
        settings = Settings(pages_folder=folder, allow_networks=["127.0.0.0/8"])
        systems = [
            build(settings, announce=Listeners(told.append), clock=clock, dice=seeded_dice(), database=database,
                  transport=site)
            for database in databases
        ]  # fmt: skip
        aims = [{"url": f"http://127.0.0.1/agenda/{number}", "schedule": "0 6 * * *"} for number in range(PAGES)]
        entry = {"name": "agenda", "vertical": "events", "base_url": "http://127.0.0.1",
                 "adapter": "events.generic", "pace": PACE, "targets": aims}  # fmt: skip
        assert not (await systems[0].actions.importer.source_entries([entry], "test")).problems
        await run_until(systems, clock, ENDS + timedelta(minutes=5))
        async with databases[0].glance() as connection:
            found = [row.status for row in await connection.execute(select(jobs))]
            dead = len((await connection.execute(select(dead_letters))).all())
        for system in systems:
            await system.close()
        return found, dead, site.asked

    return *run_virtual(main, NOON), told


async def run_until(systems, clock, moment):
    """Let the systems work until a moment, each started a little after the one before, then finish."""
    running = []
    for system in systems:
        running.append(asyncio.create_task(system.supervisor.run()))
        await clock.sleep_until(clock.now() + timedelta(seconds=2.3))  # nobody looks at the same moment as another
    await clock.sleep_until(moment)
    for system in systems:
        system.supervisor.stop()
    await asyncio.gather(*running)


@pytest.mark.shows("N4")
@pytest.mark.parametrize("workers", [1, 3])
def test_what_was_fetched_before_a_long_outage_is_written_after_it(migrated_sqlite_url, tmp_path, workers):
    file = migrated_sqlite_url.partition(":///")[2]
    statuses, dead, asked, told = worked(file, tmp_path / "pages", workers)
    assert statuses == ["done"] * PAGES
    assert set(asked.values()) == {1}
    assert dead == 0
    assert not [each for each in told if isinstance(each, LeaseLost)]
    assert sum(each.jobs for each in told if isinstance(each, JobsRescued)) == 0
    assert max(Counter((each.job_id, each.stage) for each in told if isinstance(each, StageDone)).values()) == 1
    assert len([each for each in told if isinstance(each, RunClosed)]) == 1
