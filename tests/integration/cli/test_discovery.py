"""Discovery from the command line: run, looked through, approved, scraped, read."""

import json
import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from integration.cli.conftest import Cli, start
from rig.aside import aside
from tidemill.lab.standins.serper import SerperStandin
from tidemill.lab.standins.talk import Call, StandinReply, StandinServer

pytestmark = pytest.mark.shows("E5")


@pytest.fixture
def town(cli: Cli, serve_lab: Any) -> Iterator[tuple[Cli, SerperStandin, str]]:
    """A lab site that the search knows of, and the name of its town."""
    site = next(each for each in serve_lab(count=1).entries if each["language"] == "nl")
    standin = SerperStandin({site["city"]: [site["targets"][0]["url"]]})
    with aside(lambda: StandinServer(standin)) as service:
        cli.settings.write_text(
            f'allow_networks = ["127.0.0.0/8"]\nsearch_key = "serper-key"\nsearch_url = "{service.origin}"\n'
            "discovery_interval_seconds = 0\n"
        )
        assert cli("migrate").code == 0
        yield cli, standin, site["city"]


def test_a_town_is_searched_its_agenda_approved_scraped_and_read(town: tuple[Cli, SerperStandin, str]) -> None:
    cli, standin, city = town
    done = cli("discover", "run", city, "--json")
    assert done.code == 0, done.err
    assert done.json["discovered"]["pending"] == 1
    (found,) = cli("candidates", "list", "--status", "pending", "--json").json
    assert found["confidence"] > 0.4
    assert found["samples"][0]["title"] in cli("candidates", "show", found["id"]).out
    approved = cli("candidates", "approve", found["id"], "--enable", "--json").json
    name = next(one["name"] for one in cli("sources", "list", "--json").json if one["id"] == approved[0]["source_id"])
    assert cli("crawl", name).code == 0
    assert len(cli("export").out.splitlines()) > 3
    assert cli("discover", "run", city).code == 0
    assert len(standin.asked) == 5


def test_a_discovery_killed_in_the_middle_goes_on_and_pays_for_nothing_twice(
    town: tuple[Cli, SerperStandin, str],
) -> None:
    cli, standin, city = town
    answer, reached = standin.answer, threading.Event()

    async def stall(call: Call, now: datetime) -> StandinReply:
        reply = await answer(call, now)
        if len(standin.asked) < 3:
            return reply
        reached.set()
        return StandinReply(hangs=True)

    standin.answer = stall  # type: ignore[method-assign]
    process = cli.start("discover", "run", city)
    assert reached.wait(60)
    process.kill()
    process.communicate()
    standin.answer = answer  # type: ignore[method-assign]
    assert cli("discover", "run", city, "--json").json["discovered"]["asked"] == 2
    assert len(standin.asked) == len(set(standin.asked)) == 5
    assert [one["status"] for one in cli("candidates", "list", "--json").json] == ["pending"]


def test_a_file_from_the_time_without_a_database_is_brought_in_with_bad_lines_named(cli: Cli, tmp_path: Any) -> None:
    cli("migrate")
    file = tmp_path / "discovered.jsonl"
    file.write_text(
        '{"candidate": {"url": "https://a.test/agenda", "canonical_url": "https://a.test/agenda", "place": "Arnhem", '
        '"found_at": "2026-03-02T12:00:00Z", "confidence": 0.8}}\nrubbish\n{"searched": "Arnhem"}\n'
    )
    done = cli("discover", "import", file, "--json")
    assert (done.code, done.json) == (3, {"candidates": 1, "searches": 0, "bad_lines": [2]})
    assert cli("candidates", "list", "--json").json[0]["place"] == "Arnhem"
    assert "searched" in cli("discover", "places", "--limit", "3").out


def test_a_municipality_that_is_not_there_is_named_with_the_nearest(cli: Cli) -> None:
    cli("migrate")
    said = cli("discover", "run", "Arnhemm")
    assert said.code != 0
    assert "Arnhem" in said.err


def test_the_demo_discovers_reviews_scrapes_and_serves_twelve_municipalities() -> None:
    process = start("demo", "--discover", "--seconds", "3", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "Searched 12 municipalities with 60 questions" in err
    totals = json.loads(out)
    assert totals["sources_on"] >= 12
    assert totals["records"]["accepted"] > 30
