"""A crawl of many sources asks the first while the others are still being put into the queue."""

import asyncio
from pathlib import Path

from rig.town import a_town, agenda_page, happening
from tidemill.cli.crawling import Crawl


async def test_the_first_source_is_scraped_before_the_last_is_enqueued(
    migrated_sqlite_url: str, tmp_path: Path
) -> None:
    async with a_town(migrated_sqlite_url, tmp_path, llm_key="") as town:
        for name in ("one", "two"):
            town.site.page(f"/{name}", agenda_page([happening(f"An evening at {name}")]))
            await town.add_source(name, f"/{name}")
        first = await town.system.actions.runs.start_source("one", "ans")
        crawl = Crawl(town.system, first.run_ids)
        was_asked = town.site.hold("/one")

        async def enqueue() -> None:
            await was_asked.arrived.wait()
            crawl.add((await town.system.actions.runs.start_source("two", "ans")).run_ids)
            was_asked.opened.set()

        crawl.enqueue_beside(enqueue())
        async with asyncio.timeout(60):
            await crawl.run()
        assert set(await town.events()) == {"An evening at one", "An evening at two"}
        runs = await town.rows("SELECT status FROM scrape_runs")
        assert ([row["status"] for row in runs], len(crawl.run_ids)) == (["SUCCESS", "SUCCESS"], 2)
