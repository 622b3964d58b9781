"""Stages are run a few in a row; then the loop has a turn, in which commits and sockets are served."""

from typing import Any

from rig.site import a_site
from rig.works import the_works
from tidemill.engine import drain
from tidemill.engine.drain import STAGES_PER_TURN

PAGES = 12


async def test_the_loop_has_a_turn_after_a_few_stages(migrated_sqlite_url, monkeypatch):
    """All pages are there to be read at once."""
    rows = [0]
    run_stage, yield_to_loop = drain.run_stage, drain.yield_to_loop

    def counted(*arguments: Any) -> Any:
        rows[-1] += 1
        return run_stage(*arguments)

    async def turned() -> None:
        rows.append(0)
        await yield_to_loop()

    async with the_works(migrated_sqlite_url) as works:
        async with a_site(pages=PAGES) as site:
            await works.enqueue(await works.source(site))
            await works.system.worker.sign_in()
            await works.system.make_drain().run("http")
        await works.say("UPDATE pipeline_jobs SET status = 'ready', current_stage = 'parse', completed_at = NULL")
        await works.say("UPDATE scrape_runs SET status = 'RUNNING', open_jobs = urls_attempted")
        monkeypatch.setattr(drain, "run_stage", counted)
        monkeypatch.setattr(drain, "yield_to_loop", turned)
        await works.system.make_drain().run("http")
    assert sum(rows) == 3 * PAGES
    assert max(rows) == STAGES_PER_TURN
