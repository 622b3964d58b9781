"""How a crawl is judged, and whether a demo's numbers add up."""

from typing import Any, cast

import msgspec
import pytest

from rig.clock import NOON
from tidemill.cli.crawling import crawl_exit_code
from tidemill.cli.summary import discrepancies
from tidemill.core.views import RunDetail, RunView
from tidemill.core.views.totals import RecordTotal, totals_type

RUN = RunView(
    **dict.fromkeys(RunView.__struct_fields__, cast("Any", 0))
    | {
        "status": "SUCCESS", "complete": True, "started_at": NOON, "completed_at": NOON, "urls_attempted": 2,
        "urls_succeeded": 2, "source_name": "jazzclub", "doubts": (),
    }
)  # fmt: skip


def detail(failures: dict[str, int] | None = None, **changes: object) -> RunDetail:
    return RunDetail(run=msgspec.structs.replace(RUN, **changes), stages=(), failures=failures or {}, jobs=())


FAILED = {"status": "FAILED", "complete": False, "urls_succeeded": 0, "urls_failed": 2}


@pytest.mark.shows("X12")
@pytest.mark.parametrize(
    ("runs", "code"),
    [
        ([detail()], 0),
        ([detail(complete=False)], 3),
        ([detail({"timeout": 1}, status="PARTIAL", complete=False, urls_succeeded=1)], 3),
        ([detail({"timeout": 2}, **FAILED)], 1),
        ([detail({"layout_changed": 2}, **FAILED)], 4),
        ([detail({"layout_changed": 1, "timeout": 1}, **FAILED)], 1),
        ([detail(), detail({"timeout": 2}, **FAILED)], 3),
        ([detail(status="RUNNING", complete=None, urls_succeeded=0)], 1),
    ],
)
def test_the_exit_code_says_how_it_went(runs: list[RunDetail], code: int) -> None:
    assert crawl_exit_code(runs) == code


RECORDS = {
    "read": 10, "accepted": 8, "dropped": 1, "quarantined": 1, "inserted": 5, "updated": 1, "unchanged": 1,
    "repeated": 1, "seen_again": 0, "removed": 0,
}  # fmt: skip
EVENTS = RecordTotal("events", "events_listed", "events_gone", "listed")
COUNTED: Any = totals_type([EVENTS])
TOTALS = COUNTED(
    sources=1,
    sources_on=1,
    targets=1,
    pages=1,
    pages_unchanged=0,
    records=RECORDS,
    events_listed=4,
    events_gone=1,
    jobs={"done": 1, "dead": 1},
    runs={},
    dead_letters={"pending": 1},
    breakers={},
)


def test_numbers_that_add_up_raise_no_doubt() -> None:
    assert discrepancies(TOTALS, [EVENTS]) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"records": RECORDS | {"dropped": 0}},
        {"records": RECORDS | {"unchanged": 0}},
        {"events_listed": 3},
        {"events_gone": 9},
        {"dead_letters": {}},
    ],
)
def test_numbers_that_do_not_are_told(changes: dict[str, object]) -> None:
    assert len(discrepancies(msgspec.structs.replace(TOTALS, **changes), [EVENTS])) == 1
