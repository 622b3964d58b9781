"""What a gate said when a job was claimed is asked again as its request leaves."""

from datetime import UTC, datetime

import pytest

from tidemill.store.schema import breakers, jobs

pytestmark = pytest.mark.shows("B8")

FAR_AWAY = datetime(2100, 1, 1, tzinfo=UTC)
AFTER_ROBOTS = {
    "source off": ("UPDATE scraper_sources SET enabled = false", "source_off"),
    "drift": ("UPDATE scraper_sources SET auto_disabled = true", "source_off"),
    "not compliant": ("UPDATE scraper_sources SET robots_compliant = false", "not_compliant"),
    "target off": ("UPDATE scrape_targets SET enabled = false", "target_off"),
    "path blocked": ("UPDATE scrape_targets SET robots_path_blocked = true", "not_compliant"),
}


@pytest.mark.shows("S5")
@pytest.mark.parametrize("change", AFTER_ROBOTS)
async def test_a_switch_thrown_while_robots_txt_was_asked_for_stops_the_page(nursery, site, works, change):
    sql, failure = AFTER_ROBOTS[change]
    await works.enqueue(await works.source(site, paths=["/agenda/0"]))
    robots = site.hold("/robots.txt")
    async with nursery.child("drain", settings={"database": works.url}) as worker:
        await robots.arrived.wait()
        await works.say(sql)
        robots.opened.set()
        assert await worker.ended() == 0
    assert site.asked == ["/robots.txt"]
    assert [(row["status"], row["failure"]) for row in await works.rows(jobs)] == [("refused", failure)]


async def test_a_breaker_that_opened_meanwhile_puts_the_job_off_and_spends_no_attempt(nursery, site, works):
    key = await works.source(site, paths=["/agenda/0"])
    await works.enqueue(key)
    robots = site.hold("/robots.txt")
    async with nursery.child("drain", settings={"database": works.url}) as worker:
        await robots.arrived.wait()
        async with works.system.store.database.write() as connection:
            await connection.execute(breakers.insert().values(source_id=key, state="OPEN", cooldown_until=FAR_AWAY,
                                                              consecutive_opens=1, changed_at=FAR_AWAY))  # fmt: skip
        robots.opened.set()
        assert await worker.ended() == 0
    assert site.asked == ["/robots.txt"]
    (job,) = await works.rows(jobs)
    assert (job["status"], job["attempts"], job["not_before"].year) == ("waiting", 0, 2100)


async def test_a_target_removed_meanwhile_is_not_asked_for(nursery, site, works):
    await works.enqueue(await works.source(site, paths=["/agenda/0"]))
    robots = site.hold("/robots.txt")
    async with nursery.child("drain", settings={"database": works.url}) as worker:
        await robots.arrived.wait()
        await works.say("DELETE FROM scrape_targets")
        robots.opened.set()
        assert await worker.ended() == 0
    assert site.asked == ["/robots.txt"]
    assert [row["failure"] for row in await works.rows(jobs)] == ["target_off"]
