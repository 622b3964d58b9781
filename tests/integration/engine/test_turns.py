"""Stages are run a few in a row; a commit that is back is heard before the next one."""

from typing import Any

import pytest

from rig.site import a_site
from rig.works import Works, the_works
from tidemill.engine import drain
from tidemill.engine.drain import LONG_SLICE
from tidemill.store.database.inline import Bell

PAGES = 12


class Steady(Bell):
    """A bell that goes on as it is, whatever commits do."""

    def __init__(self, *, rings: bool) -> None:
        vars(self)["rings"] = rings

    def __setattr__(self, name: str, value: object) -> None:
        """Stay as it is."""


async def in_a_row(works: Works, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many stages are run between two turns of the loop when all pages are there to be read at once."""
    async with a_site(pages=PAGES) as site:
        await works.enqueue(await works.source(site))
        await works.system.worker.sign_in()
        await works.system.make_drain().run("http")
    await works.say("UPDATE pipeline_jobs SET status = 'ready', current_stage = 'parse', completed_at = NULL")
    await works.say("UPDATE scrape_runs SET status = 'RUNNING', open_jobs = urls_attempted")
    rows = [0]
    run_stage, yield_to_loop = drain.run_stage, drain.yield_to_loop

    def counted(*arguments: Any) -> Any:
        rows[-1] += 1
        return run_stage(*arguments)

    async def turned() -> None:
        rows.append(0)
        await yield_to_loop()

    monkeypatch.setattr(drain, "run_stage", counted)
    monkeypatch.setattr(drain, "yield_to_loop", turned)
    await works.system.make_drain().run("http")
    assert sum(rows) == 3 * PAGES
    return rows[:-1]


async def test_a_commit_that_is_back_has_the_loop_after_the_stage_at_hand(migrated_sqlite_url, monkeypatch):
    async with the_works(migrated_sqlite_url) as works:
        engine: Any = works.system.store.database.engine
        engine.bell = Steady(rings=True)
        assert set(await in_a_row(works, monkeypatch)) == {1}


async def test_while_nothing_calls_stages_are_run_in_a_row(migrated_sqlite_url, monkeypatch):
    async with the_works(migrated_sqlite_url) as works:
        engine: Any = works.system.store.database.engine
        engine.bell = Steady(rings=False)
        assert max(await in_a_row(works, monkeypatch)) == LONG_SLICE
