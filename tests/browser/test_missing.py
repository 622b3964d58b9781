"""Without a browser its jobs wait and the system says so; once there is one, everything goes on by itself."""

from pathlib import Path

import pytest

from rig.works import the_works
from tidemill.core.services.degradation import Service, ServiceState
from tidemill.lab.scripted import ScriptedSite
from tidemill.store.schema import audit_log, dead_letters, jobs, page_screenshots, pages, runs
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("B15")


async def test_jobs_wait_for_a_browser_that_is_missing_and_go_on_when_it_is_there(
    chromium: str, migrated_sqlite_url: str, tmp_path: Path
):
    program, real = tmp_path / "chromium", Path(chromium)
    async with ScriptedSite(2) as site, the_works(migrated_sqlite_url, browser_program=str(program)) as works:
        await works.enqueue(await works.source(site, fetcher="browser", settings={"wait_for": "article"}))
        await works.system.worker.sign_in()
        await works.system.make_drain().run("browser")
        waiting = await works.rows(jobs)
        assert {(row["status"], row["attempts"]) for row in waiting} == {("waiting", 0)}
        assert "browser_program" in waiting[0]["last_error"]
        assert works.system.services.state_of(Service.BROWSER) is ServiceState.DEGRADED
        assert site.asked == []

        program.symlink_to(real)
        await works.say("UPDATE pipeline_jobs SET not_before = 0")
        await works.system.make_drain().run("browser")
        assert await works.count(events) == 2
        assert works.system.services.state_of(Service.BROWSER) is ServiceState.WORKS
        (run,) = await works.rows(runs)
        assert run["degraded"] == ["browser"]
        assert await works.count(dead_letters) == 0


@pytest.mark.usefixtures("chromium")
async def test_a_refused_page_is_kept_with_its_picture(migrated_sqlite_url: str):
    async with ScriptedSite(1) as site, the_works(migrated_sqlite_url) as works:
        await works.enqueue(await works.source(site, fetcher="browser", paths=["/nowhere"]))
        await works.system.worker.sign_in()
        await works.system.make_drain().run("browser")
        (page,) = await works.rows(pages)
        assert (page["fetcher_used"], page["status_code"], page["failure"]) == ("browser", 404, "not_found")
        (shot,) = await works.rows(page_screenshots)
        assert shot["page_id"] == page["id"]
        assert shot["picture"].startswith(b"\xff\xd8\xff")
        assert await works.count(audit_log, action="browser_recycle") == 0


async def test_a_program_that_is_no_browser_is_told_of_and_waited_for(migrated_sqlite_url: str):
    async with ScriptedSite(1) as site, the_works(migrated_sqlite_url, browser_program="/bin/false") as works:
        await works.enqueue(await works.source(site, fetcher="browser"))
        await works.system.worker.sign_in()
        await works.system.make_drain().run("browser")
        (job,) = await works.rows(jobs)
        assert (job["status"], job["attempts"]) == ("waiting", 0)
        assert "/bin/false did not start" in job["last_error"]
        assert works.system.services.state_of(Service.BROWSER) is ServiceState.DEGRADED
