"""The command line at work, on sites of the lab."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tidemill.lab.faults import BrokenEmpty, EmptyList, Forbidden403, RobotsChange

from .conftest import Cli, Lab, start


def count_of(table: str, cli: Cli) -> int:
    """How many rows a table has."""
    with contextlib.closing(sqlite3.connect(cli.database.removeprefix("sqlite:///"))) as database:
        return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - our own name


@pytest.mark.shows("A3")
def test_a_source_is_crawled_and_everything_can_be_asked_about_it(
    cli: Cli, import_lab: Callable[..., list[str]], tmp_path: Path
) -> None:
    name, _ = import_lab()
    crawled = cli("crawl", name, "--json")
    assert crawled.code == 0, crawled
    run = crawled.json["runs"][0]["run"]
    assert run["complete"] is True
    assert run["records_inserted"] > 5

    assert count_of("event_cards", cli) == run["records_inserted"], "readers see them at once"

    listed = cli("runs", "list", "--json").json
    assert [one["id"] for one in listed] == [run["id"]]
    assert cli("runs", "show", run["id"]).code == 0
    job = cli("runs", "show", run["id"], "--json").json["jobs"][0]
    assert "went all the way" in cli("why", f"job:{job['id']}").out
    assert "saw everything" in cli("why", f"run:{run['id']}").out
    assert "nothing holds it back" in cli("why", f"source:{name}").out
    assert "due" in cli("why", f"target:{job['target_id']}", "--json").json["verdict"]

    lines = [json.loads(line) for line in cli("export", "events").out.splitlines()]
    assert len(lines) == run["records_inserted"]
    table = tmp_path / "events.csv"
    assert cli("export", "events", "--format", "csv", "--output", table).code == 0
    assert table.read_text().startswith("id,title,event_date")
    assert cli("export", "events", "--as-of", "2001-01-01").out == ""
    seen = lines[0]["first_seen_at"]
    between = cli("diff", "events", "--from", "2001-01-01", "--to", seen[:19], "--json").json
    assert set(between["counts"]) <= {"appeared"}
    assert "must lie before" in cli("diff", "events", "--from", "2026-01-02", "--to", "2026-01-01").err
    reason = cli("why", f"event:{lines[0]['id']}.title", "--json").json
    assert lines[0]["title"] in reason["verdict"]
    assert any(step["gate"] == "place" and "confidence" in step["detail"] for step in reason["steps"])

    page = cli("shell", f"page:{job['page_id']}", "-c", "len(css('a')) > 0")
    assert page.out == "True\n"
    assert cli("sql", "pipeline", "--json").json[0]["jobs"] == run["urls_attempted"]
    checks = {check["name"]: check["level"] for check in cli("doctor", "--json").json}
    assert checks["database"] == "ok"


@pytest.mark.shows("F7")
def test_a_second_crawl_sees_unchanged_pages_again(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name, _ = import_lab()
    first = cli("crawl", name, "--json").json["runs"][0]["run"]
    second = cli("crawl", name, "--json").json["runs"][0]["run"]
    assert second["pages_unchanged"] == first["urls_succeeded"]
    assert second["records_seen_again"] == first["records_inserted"]


def test_the_same_words_work_on_postgresql(
    cli: Cli, postgres_url: str, import_lab: Callable[..., list[str]]
) -> None:  # fmt: skip
    cli.database = postgres_url
    name, _ = import_lab()
    crawled = cli("crawl", name, "--json")
    assert crawled.code == 0, crawled
    assert "nothing holds it back" in cli("why", f"source:{name}").out
    assert cli("sql", "pipeline", "--json").json[0]["jobs"] == crawled.json["runs"][0]["run"]["urls_attempted"]
    assert {check["level"] for check in cli("doctor", "--json").json if check["name"] in {"database", "clock"}} == {
        "ok"
    }


@pytest.mark.shows("X12")
def test_a_source_that_refuses_is_a_failure_with_letters_to_retry(
    cli: Cli, import_lab: Callable[..., list[str]]
) -> None:
    name, _ = import_lab({0: Forbidden403()})
    crawled = cli("crawl", name, "--json")
    assert crawled.code == 1
    letters = cli("dlq", "list", "--source", name, "--json").json
    assert letters
    shown = cli("dlq", "show", letters[0]["id"], "--json").json
    assert shown["payload"]["url"] == letters[0]["url"]
    assert "forbidden" in cli("why", f"job:{letters[0]['job_id']}").out
    assert cli("dlq", "retry", letters[0]["id"], "--json").json["letters"] == 1
    again = cli("dlq", "retry", letters[0]["id"])
    assert again.code == 2
    assert "is being retried" in again.err
    rest = cli("dlq", "discard", "--all", "--yes", "--notes", "the site said no", "--json").json["letters"]
    assert rest == len(letters) - 1
    assert cli("dlq", "list", "--status", "pending", "--json").json == []


@pytest.mark.shows("X12")
def test_crawling_all_is_partial_when_one_source_refuses(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    import_lab({0: Forbidden403()})
    crawled = cli("crawl", "--all", "--json")
    assert crawled.code == 3
    assert len(crawled.json["runs"]) == 2


@pytest.mark.shows("X12")
def test_an_empty_agenda_that_says_so_is_complete(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name, _ = import_lab({0: EmptyList()})
    assert cli("crawl", name).code == 0


@pytest.mark.shows("X12")
def test_an_empty_page_that_does_not_say_so_has_its_own_exit_code(
    cli: Cli, import_lab: Callable[..., list[str]]
) -> None:
    name, _ = import_lab({0: BrokenEmpty()})
    crawled = cli("crawl", name)
    assert crawled.code == 4, crawled
    assert "layout_changed" in crawled.out


def test_a_source_that_is_off_is_not_crawled(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name, _ = import_lab()
    assert cli("sources", "disable", name, "--reason", "they asked").code == 0
    refused = cli("crawl", name)
    assert refused.code == 2
    assert f"tidemill sources enable {name}" in refused.err
    assert "switched off by a person" in cli("why", f"source:{name}").out
    assert cli("sources", "enable", name).code == 0
    assert cli("sources", "run", name, "--json").json["jobs"] > 0


def test_an_adapter_that_is_off_turns_its_targets_away(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name, _ = import_lab()
    adapter = cli("sources", "show", name, "--json").json["view"]["adapter_id"]
    assert cli("adapters", "disable", adapter, "--reason", "redesign").code == 0
    turned_away = cli("sources", "run", name, "--json")
    assert turned_away.code == 1
    assert turned_away.json["reason"] == "adapter_disabled"
    assert "redesign" in cli("why", f"source:{name}").out
    assert cli("adapters", "enable", adapter).code == 0
    assert {one["enabled"] for one in cli("adapters", "list", "--json").json} == {True}


@pytest.mark.shows("R1")
def test_a_breaker_is_reset_by_hand(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name, _ = import_lab({0: Forbidden403()})
    while not cli("breaker", "list", "--open", "--json").json:
        cli("crawl", name)
    assert "held back by breaker" in cli("why", f"source:{name}").out
    started = cli("sources", "run", name, "--json").json
    assert any("breaker is open" in note for note in started["notes"])
    reset = cli("breaker", "reset", "--all", "--json").json
    (one,) = reset
    assert (one["source"], one["was"]) == (name, "OPEN")
    assert [each["state"] for each in cli("breaker", "list", "--open", "--json").json] in ([], ["HALF_OPEN"])


@pytest.mark.shows("O7")
def test_periodic_work_is_done_now_whether_or_not_its_slot_was(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    import_lab()
    for _ in range(2):
        done = cli("tick", "maintenance", "--json").json
        assert done["status"] == "ok"
    said = cli("sql", "-- how often it was done\nSELECT COUNT(*) AS times FROM tick_slots WHERE name = 'maintenance';")
    assert "2" in said.out
    audited = cli("sql", "SELECT action, subject FROM audit_log WHERE action = 'tick.run'", "--json").json
    assert audited == [{"action": "tick.run", "subject": "tick maintenance"}] * 2


def test_the_runbooks_views_answer(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    names = import_lab()
    found = cli("sql", "SELECT name, priority_score FROM source_health_status ORDER BY priority_score", "--json").json
    assert {one["name"] for one in found} == set(names)
    assert {round(one["priority_score"]) for one in found} == {305}, "30 days, and full trust"
    cli("crawl", names[0])
    pages = cli("sql", "SELECT r.status AS raw, s.status AS staged FROM raw_events r JOIN staged_events s"
                " ON s.raw_event_id = r.id", "--json").json  # fmt: skip
    assert {(one["raw"], one["staged"]) for one in pages} == {("normalized", "persisted")}


@pytest.mark.shows("O7")
def test_a_target_is_paused_resumed_run_and_removed(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    import_lab()
    target = cli("targets", "list", "--json").json[0]["id"]
    assert cli("targets", "pause", target).code == 0
    refused = cli("targets", "run", target)
    assert refused.code == 2
    assert f"tidemill targets resume {target}" in refused.err
    assert "paused" in cli("why", f"target:{target}").out
    assert cli("targets", "resume", target).code == 0
    assert cli("targets", "run", target, "--json").json["jobs"] == 1
    busy = cli("targets", "run", target, "--json").json
    assert (busy["jobs"], len(busy["notes"])) == (0, 1)
    assert cli("targets", "remove", target, "--yes").code == 0
    assert cli("why", f"target:{target}").code == 2


@pytest.mark.shows("A3")
def test_a_page_is_fetched_and_parsed_without_a_database(cli: Cli, serve_lab: Callable[..., Lab]) -> None:
    entry = serve_lab().entries[0]
    url = entry["targets"][0]["url"]
    got = cli("fetch", url, "--json")
    assert got.code == 0
    assert (got.json["status_code"], got.json["failure"]) == (200, None)
    selectors = json.dumps(entry["settings"].get("selectors", {}))
    read = cli("parse", url, "--selectors", selectors, "--json") if selectors != "{}" else cli("parse", url, "--json")
    assert read.code == 0
    assert {one["verdict"] for one in read.json["records"]} == {"accepted"}
    assert not (cli.settings.parent / "tidemill.db").exists()


GATES = ["source on", "compliance", "target on", "breaker", "robots", "pace", "address guard"]


def test_fetch_shows_what_every_gate_said_in_order(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    name = import_lab()[0]
    url = cli("targets", "list", "--source", name, "--json").json[0]["url"]
    got = cli("fetch", url, "--json").json
    assert [said["gate"] for said in got["gates"]] == GATES
    assert {said["verdict"] for said in got["gates"]} == {"go"}
    assert "robots.txt allows it" in cli("fetch", url).out

    assert cli("sources", "disable", name).code == 0
    told = cli("fetch", url, "--json").json
    assert told["gates"][0]["verdict"] == "no"
    assert told["status"] == "ok"  # a person may look; only jobs are held back by a switch


def test_view_writes_what_the_fetcher_saw_and_nothing_that_acts(cli: Cli, tmp_path: Path, import_lab) -> None:
    name = import_lab()[0]
    cli("crawl", name)
    url = cli("targets", "list", "--source", name, "--json").json[0]["url"]
    shown = Path(cli("view", url, "--print-path").out.strip()).read_text("utf-8")
    assert "default-src 'none'" in shown
    assert "<script" not in shown
    (page,) = cli("sql", "SELECT min(id) AS id FROM raw_pages", "--json").json
    file = tmp_path / "seen.html"
    assert cli("view", page["id"], "--output", file, "--print-path").out.strip() == str(file)
    assert url.partition("?")[0] in file.read_text("utf-8")


def test_a_saved_page_is_parsed_and_tried_in_the_shell(cli: Cli, serve_lab: Callable[..., Lab], tmp_path: Path) -> None:
    url = serve_lab().entries[0]["targets"][0]["url"]
    saved = tmp_path / "page.html"
    assert cli("fetch", url, "--output", saved).code == 0
    assert cli("parse", saved, "--url", url).code in {0, 4}
    assert cli("shell", saved, "-c", "document.title").out.strip()
    assert cli("shell", saved, "-c", "for word in ['a', 'b']: print(word)").out == "a\nb\n"
    assert cli("shell", saved, "-c", "1 +").code == 2


@pytest.mark.shows("A3")
def test_the_shell_answers_what_is_typed(tmp_path: Path) -> None:
    saved = tmp_path / "page.html"
    saved.write_text("<title>Agenda</title><h1>What is on</h1>")
    process = start("shell", str(saved), stdin=subprocess.PIPE)
    out, err = process.communicate("css('h1')\ndocument.title\n", timeout=60)
    assert process.returncode == 0
    assert "['What is on']" in out
    assert "'Agenda'" in out
    assert "page.text" in err


@pytest.mark.shows("F5")
def test_what_robots_txt_forbids_is_explained(cli: Cli, serve_lab: Callable[..., Lab]) -> None:
    url = serve_lab({0: RobotsChange()}).entries[0]["targets"][0]["url"]
    got = cli("fetch", url)
    assert got.code == 1
    assert "robots.txt" in got.out


@pytest.mark.shows("F8")
def test_a_private_address_is_refused_and_explained(cli: Cli) -> None:
    cli.settings.write_text("")
    for url in ("http://127.0.0.1:1/", "http://0x7f.1/", "http://[::1]/", "http://localhost/", "http://10.0.0.1/"):
        got = cli("fetch", url, "--json")
        assert got.code == 1
        assert got.json["failure"] == "address_refused", url


@pytest.mark.shows("A3")
def test_ticks_are_done_by_hand_once_per_slot(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    import_lab()
    assert cli("tick", "dispatch", "--json").json["status"] in {"ok", "taken"}
    assert {tick["name"] for tick in cli("tick", "--json").json} == {"dispatch"}
    assert cli("sql", "SELECT COUNT(*) AS jobs FROM pipeline_jobs", "--json").json[0]["jobs"] > 0


@pytest.mark.shows("X12")
def test_every_setting_is_shown_with_its_origin(cli: Cli) -> None:
    shown = {one["name"]: one for one in cli("settings", "--json").json}
    assert shown["allow_networks"]["origin"] == "file"
    assert shown["database"]["origin"] == "command line"
    assert shown["lease_seconds"]["origin"] == "default"
    assert all(one["description"] for one in shown.values())


def test_what_this_version_knows_is_listed_without_a_database(cli: Cli) -> None:
    assert "events.generic" in cli("list").out
    names = [line["name"] for line in cli("list", "verticals", "--json").json]
    assert names == ["events", "prices", "listings", "matches"]


def test_a_saved_product_page_is_parsed_with_the_columns_of_its_vertical(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "widget.html"
    page.write_text("<h1>Blue widget</h1><p class=price>$ 12.50</p><button>Add to cart</button><p>In stock</p>")
    shown = cli("parse", str(page), "--vertical", "prices").out
    assert "Blue widget" in shown
    assert "12.50" in shown


def test_a_reader_that_leaves_early_is_no_trouble(cli: Cli, import_lab: Callable[..., list[str]]) -> None:
    import_lab()
    process = cli.start("sources", "list", "--json")
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err


@pytest.mark.shows("A3")
def test_migrate_says_where_the_tables_stand(cli: Cli) -> None:
    assert cli("migrate", "--json").json["before"] is None
    assert "already" in cli("migrate").out


def test_the_command_is_installed() -> None:
    installed = Path(sys.executable).parent / "tidemill"
    done = subprocess.run([str(installed), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tidemill ")


def test_a_host_with_a_pace_of_its_own_is_told_as_such(cli: Cli, serve_lab: Callable[..., Lab]) -> None:
    address = serve_lab().entries[0]["targets"][0]["url"].split("/")[2]
    url = "http://api.town.example/"
    source = f"[{{name: town, vertical: events, base_url: '{url}', adapter: events.generic, targets: ['{url}']}}]"
    (cli.settings.parent / "sources.yaml").write_text(source)
    cli.settings.write_text(
        f'allow_networks = ["127.0.0.0/8"]\nhost_addresses = {{"api.town.example" = "{address}"}}\n'
    )
    assert cli("sources", "import", cli.settings.parent / "sources.yaml").code == 0
    assert cli("targets", "list", "--json").json[0]["host"] == "town.example"

    with cli.settings.open("a") as settings:
        settings.write('[host_paces."api.town.example"]\ninterval_seconds = 0.25\n')
    assert cli("tick", "dispatch").code == 0  # whoever signs in as a worker sees to it
    assert cli("targets", "list", "--json").json[0]["host"] == "api.town.example"
    target = cli("targets", "list", "--json").json[0]["id"]
    told = cli("why", f"target:{target}").out
    assert "one request per 0.25 s, 1 at a time, counted apart from its domain" in " ".join(told.split())
    pace = next(said for said in cli("fetch", url, "--json").json["gates"] if said["gate"] == "pace")
    assert pace["words"].startswith("api.town.example (counted apart from its domain): one request per 0.25 s")


def test_a_source_is_added_with_all_that_is_known_of_it_and_its_schedule_changed_by_hand(cli: Cli) -> None:
    options = ["--language", "de", "--time-zone", "Europe/Berlin", "--city", "Bonn", "--pace", "5", "--browser"]
    added = cli("sources", "add", "haus", "https://haus.example/", *options, "--terms-approved-by", "Ans")
    assert added.code == 0
    assert "with 1 target" in added.out
    shown = cli("sources", "show", "haus", "--json").json["source"]
    assert (shown["language"], shown["time_zone"], shown["city"]) == ("de", "Europe/Berlin", "Bonn")
    assert (shown["fetcher"], shown["tos_approved_by"]) == ("browser", "Ans")
    assert cli("targets", "schedule", "https://haus.example/", "daily").code == 0
    assert "daily" in cli("targets", "list").out
    assert cli("targets", "schedule", "https://haus.example/", "sometimes").code != 0
    assert cli("targets", "schedule", "https://haus.example/", "default").code == 0
    assert cli("targets", "list", "--json").json[0]["schedule"] is None
