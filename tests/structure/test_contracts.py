"""Each import contract fires: a copy of the house with one planted import per contract is found guilty of it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PLANTED = {
    "Layers: each imports only what stands below it": ("core/job.py", "from tidemill.pipeline import parse"),
    "Generic code imports no vertical; one list in bootstrap does": (
        "store/ledger/runs.py",
        "from tidemill.verticals.events import record",
    ),
    "Verticals do not know each other": ("verticals/prices/rules.py", "from tidemill.verticals.events import rules"),
    "The pure folders import no clock, dice, disk, network, log or database": (
        "verticals/listings/rules.py",
        "import random",
    ),
    "Pure files of a vertical import core, reading and each other": (
        "verticals/events/record.py",
        "from tidemill.operations import mistakes",
    ),
    "SQL only in store and in the verticals' own store": ("verticals/events/api.py", "import sqlalchemy"),
    "HTTP out only in fetching and services": ("verticals/prices/parts.py", "import aiohttp"),
    "The web framework only in web and the verticals' pages": ("verticals/events/parts.py", "import fastapi"),
    "The command-line framework only in cli, terminal and the verticals' commands": (
        "verticals/events/parts.py",
        "import typer",
    ),
    "The rooms of the store: each imports only what stands below it": (
        "store/database/keys.py",
        "from tidemill.store.ledger import claims",
    ),
}


def contracts(project_root: Path) -> list[str]:
    settings = tomllib.loads((project_root / "pyproject.toml").read_text())
    return [contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]]


def build_house(project_root: Path, folder: Path) -> Path:
    """Make every module of the project anew, empty."""
    source = project_root / "src"
    for module in source.rglob("*.py"):
        copy = folder / module.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()
    (folder / "pyproject.toml").write_text((project_root / "pyproject.toml").read_text())
    return folder


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    arguments = [str(program), "--no-cache", "--config", str(folder / "pyproject.toml")]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def house(project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "400")  # or long names are wrapped
    return build_house(project_root, tmp_path)


def broken(report: str) -> set[str]:
    verdicts = (line.rpartition(" BROKEN") for line in report.splitlines())
    return {name.strip() for name, found, _ in verdicts if found}


def test_every_contract_has_a_planted_violation(project_root: Path) -> None:
    assert set(PLANTED) == set(contracts(project_root))


def test_an_empty_house_keeps_every_contract(house: Path) -> None:
    done = lint(house)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("contract", PLANTED)
def test_a_planted_import_breaks_its_contract(house: Path, contract: str) -> None:
    module, line = PLANTED[contract]
    (house / "tidemill" / module).write_text(f"{line}\n")
    done = lint(house)
    assert done.returncode == 1, done.stdout + done.stderr
    assert contract in broken(done.stdout)
