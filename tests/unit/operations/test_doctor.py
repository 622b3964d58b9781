import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.health.system import Waiting
from tidemill.core.views import Totals
from tidemill.operations.doctor import clock_check, database_check, disk_check, tick_checks, waiting_checks, work_checks
from tidemill.store.database.ping import DatabaseHealth

pytestmark = pytest.mark.shows("A3")

TOTALS = Totals(
    sources=3,
    sources_on=3,
    targets=9,
    pages=0,
    pages_unchanged=0,
    records={},
    jobs={},
    runs={},
    dead_letters={},
    breakers={},
)


def levels(totals: Totals, max_pending: int = 100) -> dict[str, str]:
    return {check.name: check.level for check in work_checks(totals, max_pending)}


def test_old_tables_are_a_failure_with_its_remedy() -> None:
    check = database_check(DatabaseHealth("sqlite", None, "0001", None))
    assert (check.level, check.remedy) == ("failure", "run `tidemill migrate`")
    assert database_check(DatabaseHealth("sqlite", "0001", "0001", None)).level == "ok"


def test_a_clock_from_before_we_were_written_cannot_be_right() -> None:
    assert clock_check(datetime(1970, 1, 2, tzinfo=UTC), None, []).level == "failure"


def test_a_worker_seen_in_the_future_means_that_a_clock_is_wrong() -> None:
    assert clock_check(NOON, None, [NOON + timedelta(minutes=5)]).level == "warning"
    assert clock_check(NOON, None, [NOON - timedelta(minutes=5)]).level == "ok"


def test_a_database_with_another_idea_of_the_time_is_told() -> None:
    assert clock_check(NOON, NOON - timedelta(minutes=5), []).level == "warning"
    assert clock_check(NOON, NOON + timedelta(seconds=1), []).level == "ok"


def test_a_folder_that_is_not_there_yet_is_judged_by_where_it_will_be(tmp_path: Path) -> None:
    assert disk_check(tmp_path / "not" / "yet").level in {"ok", "warning"}


def test_a_folder_that_cannot_be_written_is_a_failure() -> None:
    assert disk_check(Path("/proc/self")).level == "failure"


@pytest.mark.parametrize(("free", "level"), [(50_000_000, "failure"), (500_000_000, "warning"), (5_000_000_000, "ok")])
def test_little_room_is_told_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: str
) -> None:  # fmt: skip
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert disk_check(tmp_path).level == level


def test_silent_ticks_are_named() -> None:
    found = tick_checks([("dispatch", "last went well long ago")])
    assert [(check.name, check.level) for check in found] == [("tick dispatch", "warning")]
    assert tick_checks([])[0].level == "ok"


def test_a_queue_that_is_nearly_full_is_told() -> None:
    assert levels(msgspec.structs.replace(TOTALS, jobs={"ready": 50, "waiting": 30}))["queue"] == "warning"
    assert levels(msgspec.structs.replace(TOTALS, jobs={"ready": 50, "done": 900}))["queue"] == "ok"


@pytest.mark.shows("R2")
def test_more_than_fifty_letters_are_told() -> None:
    [told, counted] = waiting_checks(Waiting(dead_letters=51))
    assert (told.name, told.level, counted.level) == ("dead letters", "warning", "ok")
    assert "51 dead letters wait" in told.detail
    assert "dead letters" not in levels(msgspec.structs.replace(TOTALS, dead_letters={"pending": 51}))
    assert levels(msgspec.structs.replace(TOTALS, dead_letters={"pending": 50, "discarded": 9}))["dead letters"] == "ok"


def test_open_breakers_are_told() -> None:
    found = levels(msgspec.structs.replace(TOTALS, jobs={"stale": 2}, breakers={"OPEN": 1}))
    assert found["breakers"] == "warning"
    assert "stale jobs" not in levels(TOTALS)


def test_where_nothing_runs_silent_ticks_are_one_line() -> None:
    late = [("dispatch", "long ago"), ("rescue", "long ago")]
    [only] = tick_checks(late, "2 pieces of periodic work are silent: nothing runs here")
    assert (only.name, only.level, only.remedy) == ("ticks", "warning", "start one with `tidemill up`")
