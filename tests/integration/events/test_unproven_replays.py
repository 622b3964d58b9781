"""Replays that compare nothing: they prove nothing, and let nothing pass."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from rig.planted_adapter import NAME, lose_a_tenth, planted, refactored
from rig.town import Town, a_town, agenda_page, happening
from tidemill.core.replay.page_difference import ReplayedState
from tidemill.core.replay.views import ChangeStatus, ReplayScope
from tidemill.operations.mistakes import Conflict
from tidemill.operations.replay.requests import ReplayRequest
from tidemill.store.schema import page_bodies, staged_records

pytestmark = pytest.mark.shows("X1", "X2")


def a_quiet_town(url: str, folder: Path) -> AbstractAsyncContextManager[Town]:
    """A town that asks nobody else."""
    return a_town(url, folder, search_key=None, llm_key=None, geocoder_url=None)


async def scraped(town: Town) -> None:
    """Scrape an agenda once, and let the gate see by which version."""
    happenings = [happening(f"Concert {number}", f"2026-04-{number + 1:02d}T20:00", "Musis") for number in range(20)]
    town.site.page("/agenda", agenda_page(happenings))
    await town.add_source(adapter=NAME)
    await town.scrape()
    await town.system.ticks.chores["gate_changes"].run()
    assert len(await town.events()) == 20


async def test_a_replay_of_no_page_is_unproven_and_cannot_be_accepted(migrated_url: str, tmp_path: Path) -> None:
    async with a_quiet_town(migrated_url, tmp_path) as town:
        await scraped(town)
        town.clock.advance(timedelta(days=2))
        replays = town.system.actions.replays
        started = await replays.start(ReplayRequest(vertical="events", since="1h"), "ans")
        assert started.change is ChangeStatus.UNPROVEN
        ended = (await replays.run(started.id)).replay
        assert (ended.pages_total, ended.change) == (0, ChangeStatus.UNPROVEN)
        with pytest.raises(Conflict, match="proves nothing"):
            await replays.accept(ended.id, "ans")


async def test_a_reading_that_loses_records_is_doubtful_and_may_still_be_accepted(
    migrated_sqlite_url: str, tmp_path: Path
) -> None:
    async with a_quiet_town(migrated_sqlite_url, tmp_path) as town:
        await scraped(town)
        replays = town.system.actions.replays
        request = ReplayRequest(vertical="events")
        well = (await replays.run((await replays.start(request, "ans")).id)).replay
        assert well.change is ChangeStatus.PROVEN
        with planted("1.0.0", lose_a_tenth):
            ill = (await replays.run((await replays.start(request, "ans")).id)).replay
        assert ill.change is ChangeStatus.DOUBTFUL
        assert ill.held_because
        assert (await replays.accept(ill.id, "ans")).change is ChangeStatus.ACCEPTED


@pytest.mark.parametrize("table", ["staged_records", "page_bodies"])
async def test_a_version_is_held_where_no_page_can_be_compared(migrated_url: str, tmp_path: Path, table: str) -> None:
    gone = {"staged_records": delete(staged_records), "page_bodies": update(page_bodies).values(length=0)}[table]
    async with a_quiet_town(migrated_url, tmp_path) as town:
        await scraped(town)
        async with town.system.store.database.write() as connection:
            await connection.execute(gone)
        with planted("1.1.0", refactored):
            assert "1 held" in await town.system.ticks.chores["gate_changes"].run()
        (held,) = await town.system.actions.replays.every(waiting=True)
        assert held.held_because[0].startswith("nothing could be compared")


async def test_a_version_of_an_adapter_that_never_read_a_page_passes(migrated_sqlite_url: str, tmp_path: Path) -> None:
    async with a_quiet_town(migrated_sqlite_url, tmp_path) as town:
        await town.add_source(adapter=NAME)
        gate = town.system.ticks.chores["gate_changes"]
        assert "1 first versions" in await gate.run()
        with planted("1.1.0", lose_a_tenth):
            assert "1 changes passed" in await gate.run()


async def test_pages_that_did_not_change_do_not_crowd_out_those_that_were_read(
    migrated_url: str, tmp_path: Path
) -> None:
    async with a_quiet_town(migrated_url, tmp_path) as town:
        await scraped(town)
        for _ in range(3):
            town.clock.advance(timedelta(days=1, minutes=2))
            await town.scrape()
        replays = town.system.actions.replays

        async def states(*, only_read: bool) -> dict[str, int]:
            scope = ReplayScope(adapter=NAME, pages=1, only_read=only_read)
            key = await replays.repository.begin(scope, ChangeStatus.UNPROVEN, "ans", town.clock.now())
            report = (await replays.run(key)).report
            assert report is not None
            return {state: count for state, count in report.pages.items() if count}

        assert await states(only_read=False) == {ReplayedState.UNCHANGED: 1}
        assert await states(only_read=True) == {ReplayedState.COMPARED: 1}
        with planted("1.1.0", lose_a_tenth):
            assert "1 held" in await town.system.ticks.chores["gate_changes"].run()
