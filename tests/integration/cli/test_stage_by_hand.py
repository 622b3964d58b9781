"""One stage at a time, by hand."""

import contextlib
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from tidemill.lab.faults import Forbidden403

from .conftest import Cli

pytestmark = pytest.mark.shows("A3")
STAGES = ["fetch", "parse", "normalize", "persist"]


def start_run(cli: Cli, name: str) -> int:
    """Enqueue a run that nobody works on; answers its number."""
    assert cli("sources", "run", name).code == 0
    return int(cli("runs", "list", "--json").json[0]["id"])


def stages_of(cli: Cli, run_id: int) -> set[tuple[str, str]]:
    """The stages and states of a run's jobs."""
    return {(job["stage"], job["status"]) for job in cli("runs", "show", run_id, "--json").json["jobs"]}


@pytest.fixture(params=["sqlite", "postgresql"])
def on_both(cli: Cli, request: pytest.FixtureRequest) -> Cli:
    if request.param == "postgresql":
        cli.database = request.getfixturevalue("postgres_url")
    return cli


def test_a_run_is_led_through_its_stages_one_by_one(on_both: Cli, import_lab: Callable[..., list[str]]) -> None:
    cli = on_both
    name, _ = import_lab()
    run_id = start_run(cli, name)
    for stage, after in zip(STAGES, [*STAGES[1:], None], strict=True):
        assert stages_of(cli, run_id) == {(stage, "ready")}, "nobody went further than the stage that was asked for"
        done = cli("stage", stage, "--run", run_id, "--json")
        assert done.code == 0, done
        assert {one["answer"] for one in done.json} == {f"stands before {after}" if after else "done"}
    assert stages_of(cli, run_id) == {("completed", "done")}
    run = cli("runs", "show", run_id, "--json").json["run"]
    assert run["status"] == "SUCCESS"
    assert run["records_inserted"] > 5
    assert len(cli("export", "events").out.splitlines()) == run["records_inserted"], "readers see them"
    assert [each["status"] for each in cli("sql", "SELECT count(*) AS status FROM audit_log WHERE action = 'stage.run'",
                                           "--json").json] == [4]  # fmt: skip


def test_a_dry_run_shows_what_a_stage_would_answer_and_writes_nothing(
    cli: Cli, import_lab: Callable[..., list[str]]
) -> None:
    name, _ = import_lab()
    run_id = cli("crawl", name, "--json").json["runs"][0]["run"]["id"]
    jobs = [job["id"] for job in cli("runs", "show", run_id, "--json").json["jobs"]]
    before = everything(cli)
    for stage in STAGES[1:]:
        shown = cli("stage", stage, "--dry-run", *jobs, "--json")
        assert shown.code == 0, shown
        assert [one["job_id"] for one in shown.json] == jobs
        assert all(one["answer"].startswith("would ") and one["produced"] for one in shown.json)
    assert everything(cli) == before
    assert "has ended" in cli("stage", "persist", jobs[0], "--json").json[0]["answer"]


def everything(cli: Cli) -> dict[str, list[Any]]:
    """Every row of the tables that a stage writes."""
    tables = ["pipeline_jobs", "raw_pages", "raw_records", "staged_records", "rejected_records", "events", "runs",
              "hosts", "workers", "audit_log"]  # fmt: skip
    with contextlib.closing(sqlite3.connect(cli.database.removeprefix("sqlite:///"))) as database:
        known = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        return {
            table: database.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - our own names
            for table in tables
            if table in known
        }


def test_a_stage_that_fails_says_so_and_what_becomes_of_the_job(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name, _ = import_lab({0: Forbidden403()})
    run_id = start_run(cli, name)
    done = cli("stage", "fetch", "--run", run_id, "--json")
    assert done.code == 1
    assert all("forbidden" in one["answer"] and one["went_well"] is False for one in done.json)


def test_a_stage_is_refused_for_jobs_that_stand_elsewhere(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name, _ = import_lab()
    run_id = start_run(cli, name)
    first, *_ = [job["id"] for job in cli("runs", "show", run_id, "--json").json["jobs"]]
    done = cli("stage", "persist", first, 999, "--json")
    assert done.code == 1
    assert [one["answer"] for one in done.json] == [
        "there is no job 999", f"job {first} stands before fetch, not before persist"]  # fmt: skip
    none = cli("stage", "parse", "--run", run_id)
    assert none.code == 2
    assert "stands before parse" in none.err
    assert cli("stage", "fetch").code == 2
    assert "tidemill fetch URL" in cli("stage", "fetch", "--dry-run", first).err
    typo = cli("stage", "normalise", first)
    assert typo.code == 2
    assert "did you mean 'normalize'?" in typo.err
