"""Bad input and bad places: each a clear line, the right exit code, and the rest goes on."""

import sqlite3
from pathlib import Path

import pytest

from .conftest import Cli, said

GOOD = """\
- name: jazzclub
  vertical: events
  base_url: https://jazzclub.example
  adapter: events.generic
  targets: [/agenda]
"""


def complaint(answer: tuple[int, str, str], code: int) -> str:
    assert answer[0] == code, answer
    assert answer[2].startswith("error: ")
    assert answer[2].count("\n") == 1
    assert "Traceback" not in answer[2]
    return answer[2]


def bring_in(cli: Cli, text: str, *, code: int = 0) -> str:
    file = cli.settings.parent / "sources.yaml"
    file.write_text(text)
    answer = cli("sources", "import", file)
    assert answer.code == code, answer
    return answer.out


def test_an_unknown_setting_gets_a_suggestion(cli: Cli) -> None:
    cli.settings.write_text('user_agnet = "x"\n')
    words = complaint(cli("settings"), 2)
    assert "user_agnet" in words
    assert "did you mean 'user_agent'?" in words


def test_an_unknown_variable_gets_a_suggestion(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_DATABSE", "x")
    assert "did you mean 'database'?" in complaint(cli("doctor"), 2)


def test_a_settings_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "nowhere.toml" in complaint(said(["--settings", str(tmp_path / "nowhere.toml"), "settings"]), 2)


def test_a_setting_out_of_bounds_is_named_without_its_value(cli: Cli) -> None:
    cli.settings.write_text("web_port = 99999\n")
    assert "web_port" in complaint(cli("settings"), 2)


def test_a_password_is_never_shown(cli: Cli) -> None:
    cli.database = "postgresql://ans:hunter2@127.0.0.1:1/tidemill"
    for arguments in (["settings"], ["settings", "--json"], ["doctor"], ["runs", "list"]):
        answer = cli(*arguments)
        assert "hunter2" not in answer.out + answer.err


def test_looking_at_a_database_that_is_not_there_does_not_make_one(cli: Cli) -> None:
    assert "there is no database" in complaint(cli("sources", "list"), 2)
    assert not (cli.settings.parent / "tidemill.db").exists()


def test_a_database_without_tables_is_told_what_to_do(cli: Cli) -> None:
    sqlite3.connect(cli.settings.parent / "tidemill.db").close()
    (cli.settings.parent / "tidemill.db").touch()
    assert "tidemill migrate" in complaint(cli("sources", "list"), 1)


def test_a_file_that_is_no_database_is_named_as_such(cli: Cli) -> None:
    (cli.settings.parent / "tidemill.db").write_text("this is a letter to my aunt, and quite a long one\n" * 100)
    assert "not a database" in complaint(cli("sources", "list"), 1)


@pytest.mark.shows("S1")
def test_broken_yaml_is_reported_by_line_and_changes_nothing(cli: Cli) -> None:
    out = bring_in(cli, "- name: [jazzclub\n  vertical: events\n", code=1)
    assert "1 problem" in out
    assert "1 problems" not in out
    assert cli("sources", "list", "--json").json == []


@pytest.mark.shows("S1")
def test_a_bad_source_is_reported_and_the_good_one_is_kept(cli: Cli) -> None:
    out = bring_in(cli, GOOD + "- name: theater\n  vertical: evnets\n  base_url: https://theater.example\n", code=3)
    assert "evnets" in out
    assert [one["name"] for one in cli("sources", "list", "--json").json] == ["jazzclub"]


@pytest.mark.shows("S2")
def test_csv_with_bad_rows_keeps_the_good_ones(cli: Cli) -> None:
    bring_in(cli, GOOD)
    file = cli.settings.parent / "targets.csv"
    file.write_text(
        "source,url,schedule\n"
        "jazzclub,https://jazzclub.example/kids,every 6h\n"
        "jazzclub,not an address,\n"
        "jazzclb,https://jazzclub.example/x,\n"
        "jazzclub,https://jazzclub.example/y,sometimes\n"
    )
    answer = cli("targets", "import", file, "--json")
    assert answer.code == 3
    assert sorted({problem["line"] for problem in answer.json["problems"]}) == [3, 4, 5]
    assert answer.json["targets"]["created"] == 1
    again = cli("targets", "import", file, "--json").json
    assert again["targets"] == {"created": 0, "updated": 0, "unchanged": 1}


def test_a_file_that_is_not_there_is_named(cli: Cli) -> None:
    assert "nothing.yaml" in complaint(cli("sources", "import", "nothing.yaml"), 1)
    assert "nothing.html" in complaint(cli("parse", "nothing.html"), 2)  # neither a file nor an address was typed


def test_a_database_that_does_not_answer_is_one_line(cli: Cli) -> None:
    cli.database = "postgresql://ans:hunter2@127.0.0.1:1/tidemill"
    assert "check its address" in complaint(cli("sources", "list"), 1)


def test_up_waits_for_a_database_that_is_away_and_ends_with_one_line(cli: Cli) -> None:
    cli.database = "postgresql://ans:hunter2@127.0.0.1:1/tidemill"
    cli.settings.write_text("database_wait_seconds = 0.01\n")
    answer = cli("up", "--no-web")
    assert answer.code == 1
    assert answer.err.startswith("Waiting up to 0.01 s for the database (database_wait_seconds): the database does not")
    assert "waited 0.01 s (database_wait_seconds), and the database does not answer" in " ".join(answer.err.split())


def test_up_ends_at_once_if_it_shall_not_wait(cli: Cli) -> None:
    cli.database = "postgresql://ans:hunter2@127.0.0.1:1/tidemill"
    cli.settings.write_text("database_wait_seconds = 0\n")
    assert "Waiting" not in complaint(cli("up", "--no-web"), 1)


@pytest.mark.shows("A3")
def test_doctor_finds_a_database_that_does_not_answer(cli: Cli) -> None:
    cli.database = "postgresql://ans:hunter2@127.0.0.1:1/tidemill"
    answer = cli("doctor", "--json")
    assert answer.code == 1
    assert {check["name"]: check["level"] for check in answer.json}["database"] == "failure"


def test_a_database_that_cannot_be_written_says_so(cli: Cli) -> None:
    bring_in(cli, GOOD)
    cli.database = f"sqlite:///file:{cli.settings.parent / 'tidemill.db'}?mode=ro&uri=true"
    assert cli("sources", "list").code == 0
    assert "cannot be written" in complaint(cli("sources", "disable", "jazzclub"), 1)


@pytest.mark.parametrize("command", ["migrate", "up"])
def test_a_database_that_cannot_be_made_is_one_line(cli: Cli, command: str) -> None:
    cli.database = "sqlite:////proc/nowhere/tidemill.db"
    assert "cannot be opened: check that its folder exists and may be written" in complaint(cli(command), 1)


def test_a_locked_database_says_so_after_a_while(cli: Cli) -> None:
    bring_in(cli, GOOD)
    holder = sqlite3.connect(cli.settings.parent / "tidemill.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert "locked by another program" in complaint(cli("sources", "disable", "jazzclub"), 1)
        assert cli("sources", "list").code == 0
    finally:
        holder.close()
    assert cli("sources", "disable", "jazzclub").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sources", "show", "jazzclb"], "did you mean 'jazzclub'?"),
        (["targets", "show"], "No such command 'show'"),
        (["targets", "pause", "77"], "there is no target 77"),
        (["targets", "add", "jazzclub", "ftp://x"], "ftp://x"),
        (["sources", "add", "jazzclub", "https://jazzclub.example"], "exists already"),
        (["dlq", "show", "41"], "there is no dead letter 41"),
        (["dlq", "retry", "41"], "there is no dead letter 41"),
        (["runs", "show", "41"], "there is no run 41"),
        (["adapters", "disable", "events.generik"], "did you mean 'events.generic'?"),
        (["tick", "dispach"], "did you mean 'dispatch'?"),
        (["why", "jazzclub"], "source:NAME"),
        (["why", "sauce:jazzclub"], "did you mean 'source'?"),
        (["why", "job:x"], "named by its number"),
        (["why", "event:1"], "there is no event 1"),
        (["parse", "x.html", "--vertical", "evnts"], "did you mean 'events'?"),
        (["parse", "x.html", "--selectors", "{"], "not JSON"),
        (["parse", "nowhere.html"], "there is no file nowhere.html; an address begins with http:// or https://"),
        (["list", "events", "--as-of", "soon"], "write a moment such as 2026-11-01T12:00"),
        (["fetch", "not an address"], "not a web address"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(cli: Cli, arguments: list[str], words: str) -> None:
    bring_in(cli, GOOD)
    assert words in complaint(cli(*arguments), 2)


def test_a_question_that_would_change_something_is_refused(cli: Cli) -> None:
    bring_in(cli, GOOD)
    assert "change nothing" in complaint(cli("sql", "DELETE FROM scraper_sources"), 2)
    assert len(cli("sources", "list", "--json").json) == 1


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('[host_paces."https://api.example.org/"]', "no plain host name"),
        ('[host_paces."API.example.org"]', "no plain host name"),
        ('[host_paces."api.example.org"]\nparallel = 0', "parallel"),
        ('[host_paces."api.example.org"]\ninterval = 1', "interval"),
    ],
)
def test_a_pace_for_no_host_and_a_pace_that_is_none_are_refused(cli: Cli, written: str, words: str) -> None:
    cli.settings.write_text(written)
    assert words in complaint(cli("settings"), 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["runs", "list", "--status", "Sucess"], "unknown value 'Sucess'; did you mean 'SUCCESS'?"),
        (["export", "events", "--format", "cvs"], "did you mean 'csv'?"),
        (["export", "events", "--format", "ics"], "take one of jsonl, csv, parquet, geojson, or ics of agenda"),
        (["simulate", "--world", "nope"], "unknown value 'nope'; there is agendas, homes"),
        (["runs", "show", "abc"], "write a whole number"),
        (["dlq", "list", "--limit", "0"], "write at least 1"),
        (["sql", "DELETE FROM events"], "only questions are answered here"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_in_our_words(cli: Cli, arguments: list[str], words: str) -> None:
    assert cli("migrate").code == 0
    said_so = complaint(cli(*arguments), 2)
    assert words in said_so
    assert "Value error" not in said_so
    assert "Input should be" not in said_so
