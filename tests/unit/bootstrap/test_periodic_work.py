"""One list of periodic work, at the times of the design unless an installation sets its own."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tidemill.bootstrap.system import build
from tidemill.core.schedules import Cron, Every
from tidemill.settings import load_settings

pytestmark = pytest.mark.shows("O5")


async def schedules(folder: Path, **options: Any) -> dict[str, Every | Cron]:
    system = build(load_settings(database=f"sqlite:///{folder / 'tidemill.db'}", **options))
    found = {name: chore.schedule for name, chore in system.ticks.chores.items()}
    await system.close()
    return found


async def test_periodic_work_has_the_times_of_the_design(tmp_path: Path) -> None:
    found = await schedules(tmp_path)
    assert found["dispatch"] == Every(timedelta(minutes=1))
    assert found["health"] == Every(timedelta(seconds=15))
    assert found["markets"] == found["freshness"] == found["stale_jobs"] == Every(timedelta(hours=1))
    assert found["discover"] == Cron("0 3 * * 0")
    assert found["maintenance"] == found["market_breakers"] == Cron("0 3 * * *")


async def test_an_installation_sets_the_time_of_any_of_it(tmp_path: Path) -> None:
    usual = await schedules(tmp_path)
    own = await schedules(tmp_path, ticks=dict.fromkeys(usual, "every 7m"))
    assert own == dict.fromkeys(usual, Every(timedelta(minutes=7)))
