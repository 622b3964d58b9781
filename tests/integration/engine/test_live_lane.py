"""The live lane on real databases and in real time: found, watched, logged, handed over."""

import asyncio

import pytest

from rig.clock import NOON
from rig.live_world import LaneProcess, TallySites, all_rows
from rig.watching import WatchStore
from tidemill.engine.clock import RealClock
from tidemill.engine.live.options import LaneOptions
from tidemill.store.database.database import open_database
from tidemill.store.schema import change_log, jobs, live_things

pytestmark = pytest.mark.shows("M1", "M6")


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request):
    opened = open_database(request.getfixturevalue(f"migrated_{request.param}_url"))
    yield opened
    await opened.close()


async def test_things_are_found_watched_and_handed_over(database):
    clock = RealClock()
    store, sites = WatchStore(database, clock), TallySites(clock)
    for name in ("a", "b"):
        sites.steady(name, clock.now() - NOON, NOON)
    told, logged = [], asyncio.Event()

    def hear(changes):
        told.extend(changes)
        if {change.thing.key for change in told} == {"a", "b"}:
            logged.set()

    store.log.on_publish(hear)
    await store.source()
    process = LaneProcess(store, sites, clock, LaneOptions(), "one")
    running = asyncio.create_task(process.run())
    await asyncio.wait_for(logged.wait(), 30)
    process.lane.stop_claiming()
    await running
    rows = await all_rows(database, change_log)
    assert [row["change_offset"] for row in rows] == sorted(row["change_offset"] for row in rows)
    assert {(row["key"], row["lifecycle"]) for row in await all_rows(database, live_things)} == {
        ("a", "ACTIVE"),
        ("b", "ACTIVE"),
    }
    released = await all_rows(database, jobs)
    assert [(row["status"], row["leased_by"]) for row in released] == [("ready", None)] * 3
    await store.bodies.close()
