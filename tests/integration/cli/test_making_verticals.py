"""From `tidemill new vertical` to records in API, portal and command line, and what happens when the package goes."""

import asyncio
import json
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

import tidemill
from tidemill.bootstrap.labs import DEMO_OPTIONS, SITES_OPTIONS
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import Telemetry, web_deps, web_extensions
from tidemill.cli.app import COMMANDS, load
from tidemill.cli.scaffolding import scaffold_vertical
from tidemill.operations.mistakes import Mistake
from tidemill.settings import load_settings
from tidemill.store.database.migrate import newest
from tidemill.store.schema import metadata
from tidemill.web.app import create_app

SOURCES = Path(tidemill.__file__).parents[1]
TITLES = ["The first", "The second", "The third", "The fourth"]


class Ran(NamedTuple):
    """What a process answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Installation:
    """Tidemill with these packages installed beside it, on one database."""

    def __init__(self, folder: Path, *packages: Path, url: str = "") -> None:
        self.folder = folder
        self.environment = {"PYTHONPATH": ":".join(map(str, (*packages, SOURCES))), "HOME": str(folder)}
        self.settings = folder / "settings.toml"
        self.settings.write_text('allow_networks = ["127.0.0.0/8"]\n')
        self.place = ["--settings", str(self.settings), "--database", url or f"sqlite:///{folder / 'tidemill.db'}"]

    def without_packages(self) -> "Installation":
        """The same database, its packages uninstalled."""
        return Installation(self.folder)

    def start(self, module: str, *arguments: object) -> subprocess.Popen[str]:
        """Run a module as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)], cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def __call__(self, *arguments: object) -> Ran:
        """Run a command of `tidemill` to its end."""
        process = self.start("tidemill", *self.place, *arguments)
        out, err = process.communicate(timeout=120)
        return Ran(process.returncode, out, err)


def install(folder: Path) -> Path:
    """Put the metadata of a package beside it, as an installer does; no network is asked for a build tool."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    lines = (f"Metadata-Version: 2.1\nName: {project['name']}", f"Version: {project['version']}\n")
    (info / "METADATA").write_text("\n".join(lines))
    groups = project["entry-points"].items()
    points = [f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in some.items()) for group, some in groups]
    (info / "entry_points.txt").write_text("".join(points))
    return folder


def package(folder: Path, name: str, code: str, point: str = "") -> Path:
    """Write and install a package with one module."""
    (folder / name).mkdir(parents=True)
    (folder / name / f"{name}.py").write_text(code)
    project = f'[project]\nname = "{name}"\nversion = "1.0.0"\n[project.entry-points."tidemill.verticals"]\n'
    (folder / name / "pyproject.toml").write_text(f'{project}{point or name} = "{name}:VERTICAL"\n')
    return install(folder / name)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A new vertical, as it was made, installed."""
    return install(scaffold_vertical("books", tmp_path, COMMANDS)[0].parent)


@pytest.fixture
def installation(tmp_path: Path, made: Path) -> Installation:
    """A database with the tables of all verticals."""
    return migrated(Installation(tmp_path, made))


def migrated(place: Installation) -> Installation:
    assert place("migrate").out == (
        f"the tables are at step {newest()} now (before: none)\n"
        "the tables of books are at step 0001 now (before: none)\n"
    )
    return place


@contextmanager
def lab_source(installation: Installation) -> Iterator[str]:
    """The vertical's own site of the lab, served and brought in; yields the source's name."""
    server = installation.start("tidemill.bootstrap.lab_server", "--sites", 0, "--books", 1, "--interval", 0)
    assert server.stdout is not None
    (entry,) = json.loads(server.stdout.readline())["sources"]
    (installation.folder / "sources.yaml").write_text(json.dumps([entry]))
    done = installation("sources", "import", installation.folder / "sources.yaml")
    assert done.code == 0, done.err
    try:
        yield entry["name"]
    finally:
        server.communicate(timeout=60)  # it ends when its input does


def crawled(installation: Installation) -> str:
    with lab_source(installation) as name:
        done = installation("crawl", name)
        assert done.code == 0, done.out + done.err
    return name


def got(installation: Installation, *paths: str) -> dict[str, str]:
    """What `tidemill up` answers at these paths."""
    process = installation.start("tidemill", *installation.place, "up", "--port", 0)
    assert process.stderr is not None
    line = next(line for line in process.stderr if "Tidemill is up; see" in line)
    address = line.split("see ")[1].split()[0]
    try:
        return asyncio.run(asked(address, paths))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


async def asked(address: str, paths: tuple[str, ...]) -> dict[str, str]:
    found = {}
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        for path in paths:
            async with session.get(address + path) as response:
                found[path] = await response.text()
    return found


def test_a_new_vertical_is_scraped_and_listed_by_command_api_and_portal(
    tmp_path: Path, made: Path, database_url: str
) -> None:
    installation = migrated(Installation(tmp_path, made, url=database_url))
    name = crawled(installation)
    listed = installation("books", "list", "--json").json
    assert [each["title"] for each in listed] == TITLES
    assert {each["source_name"] for each in listed} == {name}
    assert "Books: 4 records" in installation("books", "list", "--source", name).out

    one = f"/api/v1/books/{listed[0]['id']}"
    described, of_source = "/api/v1/openapi.json", f"/books?source={name}"
    pages = got(installation, "/api/v1/books?limit=3", one, "/books", of_source, "/", described)
    first = json.loads(pages["/api/v1/books?limit=3"])
    assert [each["title"] for each in first["items"]] == TITLES[:3]
    assert first["next"] == str(listed[2]["id"])
    assert json.loads(pages[one]) == listed[0]
    assert all(title in pages["/books"] and title in pages[of_source] for title in TITLES)
    assert "Books listed" in pages["/"]
    assert "/api/v1/books/{key}" in json.loads(pages[described])["paths"]

    tables = installation("migrate", "--json").json
    assert tables["plugins"] == {"books": {"before": "0001", "after": "0001", "installed": True}}


def test_the_tests_that_come_with_it_pass(made: Path) -> None:
    process = Installation(made).start("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", made)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err


def test_when_its_package_is_gone_its_tables_stay_and_everything_else_works(installation: Installation) -> None:
    name, left = crawled(installation), installation.without_packages()
    assert left("migrate").out == (
        f"the tables are at step {newest()} already\n"
        "the tables of books stay at step 0001: no installed package brings this vertical\n"
    )
    assert left("migrate", "--json").json["plugins"] == {
        "books": {"before": "0001", "after": "0001", "installed": False}
    }
    checks = {check["name"]: check["level"] for check in left("doctor", "--json").json}
    assert (checks["tables of books"], checks["vertical books"]) == ("warning", "warning")
    assert [source["name"] for source in left("sources", "list", "--json").json] == [name]
    assert "no installed package brings 'books'" in left("why", f"source:{name}").out
    assert "no installed package brings the vertical 'books'" in left("crawl", name).err
    assert left("quarantine", "list", "--json").json == []
    assert left("tick", "dispatch").code == left("tick", "close_runs").code == 0
    assert [each["title"] for each in installation("books", "list", "--json").json] == TITLES


def test_packages_that_cannot_be_used_are_left_out_and_told(tmp_path: Path, made: Path) -> None:
    broken = package(tmp_path, "broken", "import nowhere_to_be_found\n")
    taken = package(
        tmp_path, "again", "from tidemill.verticals.events import EventsPlugin\nVERTICAL = EventsPlugin()\n"
    )
    old = package(
        tmp_path, "old",
        "from tidemill.verticals.events import EventsPlugin\n"
        "class Old(EventsPlugin):\n    name = 'old'\n    commands = {}\n"
        "    def load(self):\n        from tidemill.core import what_was_there_once\n"
        "VERTICAL = Old()\n",
    )  # fmt: skip
    place = Installation(tmp_path, made, broken, taken, old)
    listed = {line["name"]: line["about"] for line in place("list", "verticals", "--json").json}
    assert [*listed] == ["events", "prices", "listings", "matches", "books", "again", "broken", "old"]
    assert listed["again"] == "left out: the name 'events' is taken"
    assert listed["broken"].startswith("left out: it cannot be imported (ModuleNotFoundError: No module named 'nowhere")
    assert listed["old"].startswith("left out: it cannot be loaded (ImportError: cannot import name 'what_was_there_o")
    assert place("migrate").code == 0
    assert place("books", "list", "--json").json == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Used Cars", "write small letters, digits and underscores"),
        ("used-cars", "write small letters, digits and underscores"),
        ("../evil", "write small letters, digits and underscores"),
        ("a" * 31, "at most 30"),
        ("class", "write small letters, digits and underscores"),
        ("events", "there is a vertical of that name"),
        ("sources", "`tidemill sources` is a command already"),
        ("markets", "`tidemill markets` is a command already"),
        ("health", "Tidemill itself uses it"),
        ("rejected", "Tidemill itself uses it"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_with_the_reason(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(Mistake, match=f"cannot be a vertical's name: .*{words}"):
        scaffold_vertical(name, tmp_path, COMMANDS)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    scaffold_vertical("books", tmp_path, COMMANDS)
    with pytest.raises(Mistake, match="exists already"):
        scaffold_vertical("books", tmp_path, COMMANDS)


def test_no_name_shadows_what_is_there(tmp_path: Path) -> None:
    """Paths of the web app, options of the lab and tables: each is refused as a name, or none is made of it."""
    system = build(load_settings(database=f"sqlite:///{tmp_path / 'tidemill.db'}"))
    demo = {option.strip("-").replace("-", "_") for each in load("demo").params for option in each.opts}
    names = web_names(system) | demo | {each.name for each in SITES_OPTIONS} | {each.name for each in DEMO_OPTIONS}
    tables = {table.removesuffix("_records") for table in metadata.tables if table.endswith("_records")}
    asyncio.run(system.close())
    for name in sorted(names | tables | {*PLUGINS, *COMMANDS}):
        with pytest.raises(Mistake):
            scaffold_vertical(name, tmp_path, COMMANDS)


def web_names(system: System) -> set[str]:
    deps = web_deps(system, Telemetry(lambda words, error: pytest.fail(f"{words}: {error!r}")), "127.0.0.1")
    paths = create_app(deps, web_extensions(system, deps)).openapi()["paths"]
    return {path.removeprefix("/api/v1").split("/")[1].partition(".")[0] for path in paths} - {""}
