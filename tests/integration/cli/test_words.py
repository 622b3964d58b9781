"""The command line's own words: help, table and manual agree, and help is quick."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tidemill.cli.app import COMMANDS, load, run
from tidemill.cli.manual import manual

from .conftest import said


def everything() -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name in COMMANDS:
        command = load(name)
        below = getattr(command, "commands", None)
        found += [(f"{name} {one}", sub) for one, sub in below.items()] if below else [(name, command)]
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says(name: str) -> None:
    words = (load(name).help or "").strip().splitlines()[0]
    assert words == COMMANDS[name].help


@pytest.mark.shows("A3")
def test_every_command_has_its_module_and_every_module_its_place_in_the_table(project_root: Path) -> None:
    source = project_root / "src"
    folders = [source / "tidemill/cli/commands", *(source / "tidemill/verticals").glob("*/commands")]
    modules = {
        ".".join(path.relative_to(source).with_suffix("").parts)
        for folder in folders
        for path in folder.rglob("*.py")
        if path.stem != "__init__"
    }
    assert modules == {command.module for command in COMMANDS.values()}


def test_every_parameter_is_explained() -> None:
    silent = [
        f"{path} {parameter.name}"
        for path, command in everything()
        for parameter in command.params
        if parameter.name != "help" and not getattr(parameter, "help", None)
    ]
    assert silent == []


@pytest.mark.shows("X12")
def test_every_command_that_reads_speaks_json() -> None:
    reads = [path for path, _ in everything() if path.split()[-1] in {"list", "show"} or path in READS]
    without = [
        path for path, command in everything() if path in reads and "json" not in {one.name for one in command.params}
    ]
    assert len(reads) > 15
    assert without == []


READS = {"list", "why", "doctor", "sql", "settings", "fetch", "parse", "crawl", "demo", "tick", "migrate"}


def test_the_manual_is_what_the_commands_say(project_root: Path) -> None:
    assert (project_root / "docs/cli.md").read_text() == manual(), (
        "run: python -m tidemill.cli.manual > docs/cli.md"
    )  # fmt: skip


def test_help_lists_every_command() -> None:
    answer = said(["--help"])
    assert answer.code == 0
    assert all(name in answer.out for name in COMMANDS)


def test_help_does_not_import_the_system() -> None:
    code = "import sys; from tidemill.cli.app import run; run(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "sqlalchemy",
        "aiohttp",
        "pydantic",
        "fastapi",
        "selectolax",
        "msgspec",
        "tidemill.bootstrap.system",
        "asyncio",
    }
    assert not {name for name in heavy if f"'{name}'" in done.stderr}


def test_the_version_is_told() -> None:
    answer = said(["--version"])
    assert answer.code == 0
    assert answer.out.startswith("tidemill ")


@pytest.mark.shows("X12")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["surces"], "No such command 'surces'. Did you mean 'sources'"),
        (["sources", "lst"], "Did you mean 'list'?"),
        (["runs", "show", "x"], "write a whole number"),
        (["crawl"], "name a source, or say --all"),
        (["dlq", "retry"], "name letters by number, or say --all"),
        (["breaker", "reset"], "name a source, or say --all"),
        (["demo", "--faults", "time-oot"], "did you mean 'time-out'?"),
        (["sql", "pipelin"], "did you mean 'pipeline'?"),
        (["--database", "mysql://x", "runs", "list"], "sqlite:///FILE or postgresql://"),
        (["--database", "sqlite://tidemill.db", "runs", "list"], "sqlite:///FILE or postgresql://"),
        (["--database", "postgresql://a:b@host:port/x", "runs", "list"], "sqlite:///FILE or postgresql://"),
        (["--database", "postgresql://[::1/x", "runs", "list"], "sqlite:///FILE or postgresql://"),
        (["--database", "nonsense", "runs", "list"], "sqlite:///FILE or postgresql://"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_exit_code_2(arguments: list[str], words: str) -> None:
    answer = said(arguments)
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    assert words in answer.err


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("tidemill.cli.app.load", broken)
    with pytest.raises(ZeroDivisionError):
        run(["doctor"])
