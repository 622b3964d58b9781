"""Runs that end together are closed together, and one that cannot be closed harms none of them."""

import pytest

from rig.site import a_site
from rig.works import the_works
from tidemill.engine.chores import StuckRunsError
from tidemill.store.schema import jobs, runs

REFUSE = (
    "CREATE TRIGGER refuse BEFORE UPDATE OF status ON scrape_runs WHEN OLD.source_id = {source}"
    " BEGIN SELECT RAISE(ABORT, 'this run stays open'); END"
)


async def test_a_run_that_cannot_be_closed_keeps_no_other_open(migrated_sqlite_url):
    async with a_site(pages=3) as site, the_works(migrated_sqlite_url) as works:
        names = ("one", "bad", "three")
        keys = [await works.source(site, name=name, paths=[path]) for name, path in zip(names, site.paths, strict=True)]
        for key in keys:
            await works.enqueue(key)
        await works.say(REFUSE.format(source=keys[1]))
        await works.system.worker.sign_in()
        await works.system.make_drain().run("http")
        assert {row["status"] for row in await works.rows(jobs)} == {"done"}
        closed = {row["source_id"]: row["status"] for row in await works.rows(runs)}
        assert closed == {keys[0]: "SUCCESS", keys[1]: "RUNNING", keys[2]: "SUCCESS"}
        await works.say("DROP TRIGGER refuse")
        await works.system.ticks.chores["close_runs"].run()
        assert {row["status"] for row in await works.rows(runs)} == {"SUCCESS"}


async def test_the_tick_closes_what_it_can_and_names_what_it_cannot(migrated_sqlite_url):
    async with a_site(pages=3) as site, the_works(migrated_sqlite_url) as works:
        keys = [await works.source(site, name=path.strip("/").replace("/", "-"), paths=[path]) for path in site.paths]
        for key in keys:
            await works.enqueue(key)
        await works.say(REFUSE.format(source=keys[0]))
        await works.say("UPDATE scrape_runs SET open_jobs = 0")  # as if each had lost its worker after the last job
        stuck = (await works.rows(runs))[0]["id"]
        with pytest.raises(StuckRunsError, match=rf"2 runs closed; not closed: {stuck}. .*this run stays open"):
            await works.system.ticks.chores["close_runs"].run()
        assert [row["status"] == "RUNNING" for row in await works.rows(runs)] == [True, False, False]
