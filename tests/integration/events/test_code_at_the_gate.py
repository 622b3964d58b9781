"""Other code under the version that was accepted goes through the gate as well, raised version or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from rig.planted_adapter import NAME, PlantedAdapter, lose_a_tenth, planted, refactored
from rig.town import a_town, agenda_page, happening
from tidemill.core.replay.views import ChangeStatus

pytestmark = pytest.mark.shows("X1", "X2")
NOTHING = {"search_key": None, "llm_key": None, "geocoder_url": None}


def agenda_of(count: int) -> str:
    """An agenda with so many events."""
    return agenda_page([happening(f"Concert {number}", f"2026-04-{number + 1:02}T20:00") for number in range(count)])


@contextmanager
def code_is(monkeypatch: pytest.MonkeyPatch, digest: str) -> Iterator[None]:
    """Let the planted adapter's code have this digest."""
    with monkeypatch.context() as patched:
        patched.setattr("tidemill.interop.adapter_table.code_digest", lambda *_: digest)
        yield


async def test_code_that_reads_worse_is_held_from_its_replay_on(
    migrated_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_town(migrated_url, tmp_path, **NOTHING) as town:
        town.site.page("/agenda", agenda_of(20))
        await town.add_source(adapter=NAME)
        gate = town.system.ticks.chores["gate_changes"]
        await town.scrape()
        with code_is(monkeypatch, "aa"):
            assert "1 first versions" in await gate.run()
            assert "0 new ones" in await gate.run()
        with code_is(monkeypatch, "bb"), planted(PlantedAdapter.version, lose_a_tenth):
            assert "1 held" in await gate.run()
            (waiting,) = await town.system.actions.replays.every(waiting=True)
            town.site.page("/agenda", agenda_of(21))
            await town.next_day()
            await town.scrape()
            assert len(await town.events()) == 20  # nothing was read by it
            (job,) = await town.rows("SELECT last_error FROM pipeline_jobs WHERE failure = 'change_held'")
            assert "other code of version 1.0.0" in job["last_error"]
            await town.system.actions.replays.accept(waiting.id, "ans")
            await town.scrape()
            assert len(await town.events()) == 20  # two of the 21 are overlooked, the oldest stays known
        with code_is(monkeypatch, "bb"):
            assert "0 new ones" in await gate.run()


async def test_code_that_reads_alike_passes_and_nothing_is_fetched_for_it(
    migrated_sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_town(migrated_sqlite_url, tmp_path, **NOTHING) as town:
        town.site.page("/agenda", agenda_of(20))
        await town.add_source(adapter=NAME)
        gate = town.system.ticks.chores["gate_changes"]
        await town.scrape()
        with code_is(monkeypatch, "aa"):
            await gate.run()
        (before,) = await town.rows("SELECT next_due_at FROM scrape_targets")
        town.clock.advance(timedelta(minutes=5))
        with code_is(monkeypatch, "bb"), planted(PlantedAdapter.version, refactored):
            assert "1 changes passed" in await gate.run()
        assert await town.rows("SELECT next_due_at FROM scrape_targets") == [before]
        (change,) = await town.system.actions.replays.every_change()
        assert (change.status, change.before, change.after) == (ChangeStatus.PASSED, "1.0.0 code aa", "1.0.0 code bb")


async def test_going_back_to_the_code_that_was_accepted_needs_nobody(
    migrated_sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_town(migrated_sqlite_url, tmp_path, **NOTHING) as town:
        town.site.page("/agenda", agenda_of(20))
        await town.add_source(adapter=NAME)
        gate = town.system.ticks.chores["gate_changes"]
        await town.scrape()
        with code_is(monkeypatch, "aa"):
            await gate.run()
        with code_is(monkeypatch, "bb"), planted(PlantedAdapter.version, lose_a_tenth):
            assert "1 held" in await gate.run()
        with code_is(monkeypatch, "aa"):
            assert "0 new ones" in await gate.run()
            town.site.page("/agenda", agenda_of(21))
            await town.next_day()
            await town.scrape()
        assert len(await town.events()) == 21
