"""A source switched off after its jobs were enqueued is not asked; switched on again, it is."""

import pytest

from tidemill.store.schema import breakers, jobs, runs, sources
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("B8")


async def test_no_request_reaches_a_source_that_was_switched_off_after_its_jobs_were_enqueued(nursery, site, works):
    key = await works.source(site)
    await works.enqueue(key)
    await works.system.actions.sources.disable("agenda", "test")
    async with nursery.child("drain", settings={"database": works.url}) as worker:
        assert await worker.ended() == 0
    assert site.asked == []
    refused = await works.rows(jobs)
    assert {(row["status"], row["failure"]) for row in refused} == {("refused", "source_off")}
    (run,) = await works.rows(runs)
    assert (run["urls_refused"], run["urls_failed"], run["open_jobs"]) == (6, 0, 0)

    await works.say("UPDATE scraper_sources SET consecutive_failures = 4")
    await works.system.actions.sources.enable("agenda", "test")
    assert await works.enqueue(key) == 6
    async with nursery.child("drain", settings={"database": works.url}) as worker:
        assert await worker.ended() == 0
    assert await works.count(events) == 18
    assert [row["consecutive_failures"] for row in await works.rows(sources)] == [0]
    assert {row["state"] for row in await works.rows(breakers)} <= {"CLOSED"}


async def test_a_source_switched_off_in_mid_run_is_asked_no_more_than_is_under_way(nursery, site, works):
    await works.enqueue(await works.source(site))
    held = [site.hold("/agenda/0"), site.hold("/agenda/1")]
    async with nursery.child("drain", settings={"database": works.url}) as worker:
        for gate in held:
            await gate.arrived.wait()
        await works.system.actions.sources.disable("agenda", "test")
        for gate in held:
            gate.opened.set()
        assert await worker.ended() == 0
    assert [path for path in site.asked if path != "/robots.txt"] == ["/agenda/0", "/agenda/1"]
    assert [row["status"] for row in await works.rows(jobs)] == ["done"] * 2 + ["refused"] * 4
