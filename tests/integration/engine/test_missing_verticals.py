"""A source whose vertical is no longer installed waits, is told of, and harms no other."""

from datetime import timedelta

import pytest

from rig.site import Site
from rig.works import Works
from tidemill.operations.mistakes import Mistake, SwitchedOff
from tidemill.store.schema import dead_letters, jobs, runs, targets
from tidemill.verticals.events.store.tables import events

GONE = (
    "UPDATE scraper_sources SET vertical = 'books' WHERE name = 'gone'",
    "UPDATE scrape_runs SET vertical = 'books' WHERE source_id = {source}",
    "UPDATE pipeline_jobs SET vertical = 'books' WHERE source_id = {source}",
    "UPDATE rejected_records SET vertical = 'books' WHERE source_id = {source}",
)
FETCHED = "UPDATE pipeline_jobs SET current_stage = 'parse', page_id = {page} WHERE id = {job}"
ASIDE = (
    "INSERT INTO rejected_records (id, job_id, run_id, source_id, page_id, position, vertical, verdict, reason, raw,"
    " created_at) SELECT 1, id, run_id, source_id, page_id, 99, vertical, 'quarantined', 'DOUBT', '{{}}', created_at"
    " FROM pipeline_jobs WHERE source_id = {source}"
)
BACK = tuple(words.replace("'books'", "'events'") for words in GONE)


async def say(works: Works, words: tuple[str, ...], source: int) -> None:
    """Let the package of a source's vertical be uninstalled, or come back."""
    for each in words:
        await works.say(each.format(source=source))


async def two_sources(works: Works, site: Site) -> list[int]:
    """A source that will be gone and one that stays, a job each."""
    paths = {"gone": site.paths[0], "here": site.paths[1]}
    keys = [await works.source(site, name=name, paths=[path]) for name, path in paths.items()]
    for key in keys:
        await works.enqueue(key)
    return keys


async def drain(works: Works) -> None:
    await works.system.worker.sign_in()
    await works.system.make_drain().run("http")


async def test_its_jobs_wait_at_every_stage_and_go_on_when_it_is_back(works, site):
    here = await works.source(site, name="here", paths=site.paths[:3])
    gone = await works.source(site, name="gone", paths=site.paths[3:])
    await works.enqueue(gone)
    await drain(works)  # pages and readings that one of the jobs can be resumed from
    await works.say("UPDATE scrape_targets SET good_digest = NULL, etag = '', last_modified = ''")
    for key in (here, gone):
        await works.enqueue(key)
    before = len(site.asked)
    await say(works, GONE, gone)
    first, *_ = await works.rows(jobs, source_id=gone, status="ready")
    page = (await works.rows(jobs, source_id=gone, status="done"))[0]["page_id"]
    await works.say(FETCHED.format(page=page, job=first["id"]))

    await drain(works)
    assert {path for path in site.asked[before:] if path != "/robots.txt"} == set(site.paths[:3])
    assert {row["status"] for row in await works.rows(jobs, source_id=here)} == {"done"}
    held = [row for row in await works.rows(jobs, source_id=gone) if row["completed_at"] is None]
    assert {(row["status"], row["attempts"]) for row in held} == {("waiting", 0)}
    assert [row["current_stage"] for row in held] == ["parse", "fetch", "fetch"]
    assert {row["last_error"] for row in held} == {"no installed package brings the vertical 'books'"}
    assert await works.count(dead_letters) == 0

    await say(works, BACK, gone)
    await works.say("UPDATE pipeline_jobs SET not_before = created_at WHERE status = 'waiting'")
    await drain(works)
    assert {row["status"] for row in await works.rows(jobs)} == {"done"}
    assert await works.count(events) == 18


async def test_nothing_of_it_is_dispatched_and_the_others_are(works, site):
    await works.source(site, name="here", paths=site.paths[:3])
    gone = await works.source(site, name="gone", paths=site.paths[3:])
    await say(works, GONE, gone)
    await works.make_due()
    done = await works.system.dispatcher.dispatch()
    assert (done.jobs, done.rejected) == (3, 0)
    assert await works.count(jobs, source_id=gone) == 0
    assert await works.system.store.sweeps.undispatched(timedelta(0), works.system.clock.now()) == [("gone", 3)]
    with pytest.raises(SwitchedOff, match="no installed package brings the vertical 'books'"):
        await works.system.actions.runs.start_source("gone", "test")


async def test_a_person_is_told(works, site):
    gone = await works.source(site, name="gone", paths=site.paths[:2])
    await say(works, GONE, gone)
    checks = {check.name: check for check in await works.system.actions.doctor.examine()}
    assert checks["vertical books"].level == "warning"
    assert checks["vertical books"].detail.startswith("1 sources are of this vertical, and no installed package")
    explained = await works.system.actions.why.explain("source:gone")
    assert "no installed package brings 'books'" in explained.verdict
    target, *_ = await works.rows(targets, source_id=gone)
    assert not (await works.system.actions.why.explain(f"target:{target['id']}")).steps[0].ok
    assert [view.vertical for view in await works.system.store.views.sources(works.system.clock.now())] == ["books"]


async def test_its_ended_runs_stay_open_and_the_others_are_closed(works, site):
    keys = await two_sources(works, site)
    await works.say("UPDATE scrape_runs SET open_jobs = 0")
    await say(works, GONE, keys[0])
    await works.system.ticks.chores["close_runs"].run()
    assert [row["status"] == "RUNNING" for row in await works.rows(runs)] == [True, False]


async def test_its_old_jobs_do_not_go_stale(works, site):
    keys = await two_sources(works, site)
    await say(works, GONE, keys[0])
    stale = await works.system.store.sweeps.stale(timedelta(0), works.system.clock.now())
    assert sum(stale.values()) == 1
    assert [row["status"] for row in await works.rows(jobs)] == ["ready", "stale"]


async def test_hosts_are_weighed_without_it(works, site):
    gone = await works.source(site, name="gone")
    await say(works, GONE, gone)
    assert await works.system.store.overbooked_hosts.overbooked() == []


async def test_its_quarantined_records_are_listed_and_can_be_rejected_but_not_released(works, site):
    gone = await works.source(site, name="gone", paths=site.paths[:1])
    await works.enqueue(gone)
    await drain(works)
    await works.say(ASIDE.format(source=gone))
    await say(works, GONE, gone)
    actions = works.system.actions.quarantine
    assert [record.vertical for record in await actions.every()] == ["books"]
    with pytest.raises(Mistake, match="no installed package brings the vertical 'books'; install it, or reject"):
        await actions.release(1, "test")
    assert (await actions.reject(1, "test")).review == "rejected"
