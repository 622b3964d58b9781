"""The command line under test: in this process where that is enough, as a process where it is not."""

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rig.aside import aside
from tidemill.cli.app import run
from tidemill.lab.faults import Fault, ScheduledFault, Timetable
from tidemill.lab.server import LabServer
from tidemill.lab.world import WorldTerms
from tidemill.verticals.events.lab.group import world_of
from tidemill.verticals.events.lab.sites import build_sites

SEED = 7


class Said(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Cli:
    """Runs commands on one database with one settings file."""

    def __init__(self, folder: Path) -> None:
        self.database = f"sqlite:///{folder / 'tidemill.db'}"
        self.settings = folder / "settings.toml"
        self.settings.write_text('allow_networks = ["127.0.0.0/8"]\n')

    @property
    def place(self) -> list[str]:
        return ["--settings", str(self.settings), "--database", self.database]

    def __call__(self, *arguments: object) -> Said:
        """Run in this process."""
        return said([*self.place, *map(str, arguments)])

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        """Run as a process of its own."""
        return start(*self.place, *map(str, arguments), **options)


def said(arguments: list[str]) -> Said:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return Said(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from tidemill.cli.app import main; main()", *arguments]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


class Lab(NamedTuple):
    """Local sites that are being served, as sources."""

    entries: list[dict[str, Any]]


@contextlib.contextmanager
def served_lab(faults: Mapping[int, Fault], count: int) -> Iterator[Lab]:
    """Serve local sites; `faults` by the number of the site."""
    now = datetime.now(UTC)  # noqa: TID251 - the sites are asked in real time
    sites = build_sites(SEED, count)
    scheduled = [
        ScheduledFault(host=sites[place].host, kind="planted", fault=fault, begins=now - timedelta(days=1))
        for place, fault in faults.items()
    ]
    world = world_of(sites, Timetable(scheduled), WorldTerms(seed=SEED, start=now - timedelta(days=1)))
    with aside(lambda: LabServer(world)) as server:
        yield Lab(server.world.sources(interval_seconds=0.0))


@pytest.fixture
def serve_lab() -> Iterator[Callable[..., Lab]]:
    """Start a lab with these faults; it ends with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda faults=None, count=2: stack.enter_context(served_lab(faults or {}, count))


@pytest.fixture
def import_lab(cli: Cli, serve_lab: Callable[..., Lab], tmp_path: Path) -> Callable[..., list[str]]:
    """Start a lab and bring its sources in; answers their names."""

    def bring_in(faults: Mapping[int, Fault] | None = None, count: int = 2) -> list[str]:
        lab = serve_lab(faults, count)
        file = tmp_path / "sources.yaml"
        file.write_text(json.dumps(lab.entries))
        done = cli("sources", "import", file)
        assert done.code == 0, done.err
        return [entry["name"] for entry in lab.entries]

    return bring_in
