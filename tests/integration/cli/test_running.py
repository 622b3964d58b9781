"""Real processes: a demo that ends by itself, and Ctrl-C once and twice."""

import json
import signal
import subprocess
import sys
from typing import IO, Any

import pytest

from .conftest import Cli, start


def read_until(stream: IO[str] | None, words: str) -> str:
    """Read lines until one holds the words; a process that ends first fails the test."""
    assert stream is not None
    seen = ""
    for line in stream:
        seen += line
        if words in line:
            return seen
    pytest.fail(f"ended without saying {words!r}: {seen}")


def add_up(counts: dict[str, Any]) -> None:
    records, jobs = counts["records"], counts["jobs"]
    assert records["read"] == records["accepted"] + records["dropped"] + records["quarantined"]
    kept = ("events_listed", "events_gone", "homes_listed", "homes_gone", "products_sold", "products_gone")
    exist = sum(counts[name] for name in kept)
    assert exist == records["inserted"]
    assert jobs.get("dead", 0) == sum(counts["dead_letters"].values())
    assert sum(counts["breakers"].values()) <= counts["sources"]
    assert sum(jobs.values()) >= counts["targets"]
    assert jobs.get("leased", 0) == 0


@pytest.mark.shows("A3")
def test_a_demo_ends_by_itself_and_its_counts_add_up() -> None:
    process = start("demo", "--seconds", "5", "--sites", "6", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    counts = json.loads(out)
    assert counts["pages"] > 0
    assert counts["records"]["inserted"] > 0
    add_up(counts)


def test_a_demo_of_homes_fills_the_shelf_from_two_sites_and_an_actor() -> None:
    process = start("demo", "--homes", "--seconds", "8", "--faults", "none", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    counts = json.loads(out)
    assert (counts["sources"], counts["targets"]) == (3, 57)
    assert counts["homes_listed"] > 100
    add_up(counts)


def test_a_demo_with_shops_keeps_products_beside_events() -> None:
    process = start("demo", "--shops", "--sites", "2", "--seconds", "8", "--faults", "none", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    counts = json.loads(out)
    assert (counts["sources"], counts["products_sold"] > 10, counts["events_listed"] > 0) == (5, True, True)
    add_up(counts)


def test_shops_come_beside_known_agendas_only() -> None:
    process = start("demo", "--shops", "--homes")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "leave out" in err


@pytest.mark.parametrize("options", [["--discover"], ["--faults", "gremlins"]])
def test_a_demo_of_homes_has_no_agendas_and_its_own_faults(options: list[str]) -> None:
    process = start("demo", "--homes", *options)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "choose" in err


@pytest.mark.shows("R6")
def test_one_ctrl_c_ends_a_demo_with_its_summary() -> None:
    process = start("demo", "--sites", "3", "--faults", "none")
    read_until(process.stderr, "Scraping 3 sites")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "It all adds up" in out


def test_a_demo_can_be_kept(cli: Cli) -> None:
    folder = cli.settings.parent / "kept"
    process = start("demo", "--seconds", "3", "--sites", "2", "--faults", "none", "--keep", str(folder), "--json")
    process.communicate(timeout=120)
    cli.database = f"sqlite:///{folder / 'tidemill.db'}"
    assert len(cli("sources", "list", "--json").json) == 2
    again = start("demo", "--keep", str(folder))
    _, err = again.communicate(timeout=60)
    assert again.returncode == 2
    assert "not empty" in err


@pytest.mark.shows("R6")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_finishes_and_ends_well(cli: Cli, number: signal.Signals) -> None:
    process = cli.start("up", "--port", "0")
    read_until(process.stderr, "Tidemill is up; see http://127.0.0.1:")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Stopped; everything is kept." in err
    assert [worker["ended"] for worker in ended_workers(cli)] == [True]


@pytest.mark.shows("R6")
def test_two_signals_stop_at_once_and_hand_everything_back(cli: Cli) -> None:
    process = cli.start("up", "--no-web")
    read_until(process.stderr, "Tidemill is up")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert all(worker["ended"] for worker in ended_workers(cli))


def ended_workers(cli: Cli) -> list[dict[str, bool]]:
    return cli("sql", "SELECT ended_at IS NOT NULL AS ended FROM workers", "--json").json


def test_a_port_that_is_taken_is_one_line(cli: Cli) -> None:
    first = cli.start("up", "--port", "0")
    line = read_until(first.stderr, "Tidemill is up; see").splitlines()[-1]
    port = line.split("127.0.0.1:")[1].split()[0]
    second = cli.start("up", "--port", port)
    _, err = second.communicate(timeout=60)
    assert second.returncode == 1
    assert "choose another port" in err
    assert "Traceback" not in err
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=60)


def test_the_web_app_of_a_running_system_answers(cli: Cli) -> None:
    process = cli.start("up", "--port", "0")
    line = read_until(process.stderr, "Tidemill is up; see").splitlines()[-1]
    address = line.split("see ")[1].split()[0]
    got = subprocess.run(
        [sys.executable, "-c", f"import urllib.request; print(urllib.request.urlopen('{address}/health').status)"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert got.stdout.strip() == "200"
