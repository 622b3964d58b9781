import io
import json
from typing import Any, get_args

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.run import RunStatus
from tidemill.pipeline.happenings import Happening, RunClosed, StoreTrouble
from tidemill.telemetry.logs import LOG_LINES, MAX_VALUE_LENGTH, Level, log_listener, make_logger
from unit.telemetry import announced

pytestmark = pytest.mark.shows("H8")


def lines_of(*happenings: Happening, level: Level = "debug") -> list[dict[str, Any]]:
    stream = io.StringIO()
    log = log_listener(make_logger(level, "json", stream), level)
    for happening in happenings:
        log(happening)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def text_of(*happenings: Happening) -> str:
    stream = io.StringIO()
    log = log_listener(make_logger("debug", "text", stream), "debug")
    for happening in happenings:
        log(happening)
    return stream.getvalue()


@pytest.mark.inventory(24)
def test_every_kind_of_happening_has_its_line() -> None:
    assert set(LOG_LINES) == set(get_args(Happening))
    assert len(lines_of(*announced.EVERY_KIND)) == len(announced.EVERY_KIND)


def test_a_dead_letter_says_run_job_source_and_stage() -> None:
    (line,) = lines_of(announced.DEAD)
    assert line == {
        "at": "2026-03-02T12:00:00.000Z",
        "level": "warning",
        "event": "dead letter",
        "job": 11,
        "run": 3,
        "source": 7,
        "host": "town.example",
        "stage": "parse",
        "failure": "layout_changed",
        "detail": "neither events nor a notice",
        "adapter_id": "townhall",
    }


@pytest.mark.parametrize(
    "happening",
    [announced.PAGE_GOT, announced.RETRIED, announced.REFUSED, announced.LOST, announced.KEPT, announced.STAGE_DONE],
    ids=lambda happening: type(happening).__name__,
)
def test_whatever_happens_to_a_job_names_its_run_and_source(happening: Happening) -> None:
    (line,) = lines_of(happening)
    assert (line["job"], line["run"], line["source"]) == (11, 3, 7)


def test_a_closed_run_is_one_line_with_its_counts() -> None:
    (line,) = lines_of(announced.RUN_CLOSED)
    assert (line["run"], line["source"], line["source_name"], line["status"]) == (3, 7, "Town", "SUCCESS")
    assert (line["urls_attempted"], line["records_inserted"], line["seconds"]) == (4, 5, 2.0)
    assert line["doubts"] == ["a page was truncated"]
    assert "urls_failed" not in line


@pytest.mark.parametrize(
    ("happening", "level"),
    [
        (announced.PAGE_GOT, "debug"),
        (announced.TICKED, "debug"),
        (announced.TICK_FAILED, "error"),
        (announced.RUN_OPENED, "info"),
        (announced.CLOSED_BREAKER, "info"),
        (announced.OPENED_BREAKER, "warning"),
        (announced.RESCUED, "warning"),
        (announced.TROUBLE, "error"),
        (announced.OVERDUE, "error"),
    ],
)
def test_the_level_says_how_much_it_matters(happening: Happening, level: str) -> None:
    assert lines_of(happening)[0]["level"] == level


def test_a_failed_run_weighs_more_than_a_good_one() -> None:
    failed = RunClosed(NOON, msgspec.structs.replace(announced.SUMMARY, status=RunStatus.FAILED))
    assert [line["level"] for line in lines_of(announced.RUN_CLOSED, failed)] == ["info", "warning"]


def test_pages_are_silent_unless_asked_for() -> None:
    loud = [line["event"] for line in lines_of(*announced.EVERY_KIND, level="error")]
    assert loud == ["person needed", "store trouble", "overdue", "discovery spilled"]


def test_the_text_is_one_readable_line() -> None:
    assert text_of(announced.RUN_OPENED) == (
        "2026-03-02T12:00:00.000Z  info     run opened  run=3 source=7 trigger=SCHEDULED jobs=4 source_name=jazz\n"
    )


def test_a_page_cannot_forge_a_line_or_steer_a_terminal() -> None:
    forged = msgspec.structs.replace(announced.DEAD, detail="x\n2026 info run opened run=1 \x1b[2J")
    text = text_of(forged)
    assert text.count("\n") == 1
    assert "\x1b" not in text


def test_a_very_long_value_is_cut() -> None:
    (line,) = lines_of(StoreTrouble(NOON, "x" * 100_000))
    assert len(line["detail"]) == MAX_VALUE_LENGTH + 1


def test_secrets_do_not_reach_the_log_by_a_happening_or_by_an_exception() -> None:
    stream = io.StringIO()
    logger = make_logger("info", "json", stream)
    log_listener(logger)(StoreTrouble(NOON, "cannot reach postgresql://mill:hunter2@db/x"))
    error = ValueError("Authorization: Bearer hunter2abc")
    logger.error("it broke", exc_info=error, headers={"Cookie": "hunter2"})
    assert "hunter2" not in stream.getvalue()
    assert "postgresql://***@db/x" in stream.getvalue()
