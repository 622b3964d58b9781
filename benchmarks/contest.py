"""Runs contenders, each in a fresh process, and voids the figure of one whose result is not what it should be."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks.servers import ROOT, Postgres
from benchmarks.task import EVENTS_PER_PAGE, Figures, Task


class Contender(msgspec.Struct, frozen=True):
    """A program that does the task; `words` go after the task on its command line."""

    name: str
    title: str
    module: str
    words: tuple[str, ...] = ()
    on_postgres: bool = False


CONTENDERS = (
    Contender("tidemill", "Tidemill", "tidemill_system"),
    Contender("scrapy", "Scrapy, tuned", "scrapy_spider", ("tuned",)),
    Contender("scrapy-lean", "Scrapy, lean", "scrapy_spider", ("lean",)),
    Contender("scrapy-stripped", "Scrapy, stripped", "scrapy_spider", ("stripped",)),
    Contender("bare", "bare script", "bare"),
    Contender("tidemill-postgres", "Tidemill on PostgreSQL", "tidemill_system", on_postgres=True),
    Contender("scrapy-postgres", "Scrapy, tuned, on PostgreSQL", "scrapy_spider", ("tuned",), on_postgres=True),
    Contender("scrapy-lean-postgres", "Scrapy, lean, on PostgreSQL", "scrapy_spider", ("lean",), on_postgres=True),
)


class Run(msgspec.Struct, frozen=True):
    """One contender's run: what it needed, and what is wrong with its result (nothing, one hopes)."""

    contender: str
    pages: int
    round: int
    figures: Figures | None
    problems: list[str] = []

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.figures.seconds if self.figures else 0.0

    @property
    def cpu_ms_per_page(self) -> float:
        return self.figures.cpu_seconds / self.pages * 1000 if self.figures else 0.0


class Arena:
    """Where contenders run: the corpus' origins, a folder on disk, and perhaps PostgreSQL."""

    def __init__(self, origins: list[str], folder: Path, postgres: Postgres | None) -> None:
        self.origins = origins
        self.postgres = postgres
        self._folder = folder

    def run(self, contender: Contender, pages: int, number: int) -> Run:
        """One run on a fresh database."""
        with self.fresh_database(on_postgres=contender.on_postgres) as database:
            task = Task(self.origins, pages, database, str(self._folder))
            figures, problem = started(contender.module, task, *contender.words)
        problems = [problem] if figures is None else wrong_with(figures, pages)
        return Run(contender.name, pages, number, None if problems else figures, problems)

    @contextmanager
    def fresh_database(self, *, on_postgres: bool) -> Iterator[str]:
        """The address of an empty database, gone afterwards."""
        if on_postgres:
            assert self.postgres is not None
            with self.postgres.database() as url:
                yield url
            return
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield f"sqlite:///{folder / 'bench.db'}"
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def started(module: str, task: Task, *words: str) -> tuple[Figures | None, str]:
    """Run a contender's program to its end; answers its figures, or what went wrong."""
    command = [sys.executable, "-m", f"benchmarks.contenders.{module}", msgspec.json.encode(task).decode(), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)  # noqa: S603
    if done.returncode != 0:
        return None, f"ended with {done.returncode}: {done.stderr.decode()[-1500:]}"
    try:
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Figures), ""
    except (msgspec.DecodeError, IndexError):
        return None, f"answered {done.stdout[-500:]!r}: {done.stderr.decode()[-1500:]}"


def wrong_with(figures: Figures, pages: int) -> list[str]:
    """What the database should hold and does not; names that a contender does not tell are not asked for."""
    wanted = {
        "pages": pages,
        "bodies": pages,
        "events": EVENTS_PER_PAGE * pages,
        "pages_with_events": pages,
        "jobs_done": pages,
        "runs_open": 0,
        "read_back": figures.found.get("asked_back", 0),
    }
    return [
        f"{name}: {figures.found[name]} where {count} should be"
        for name, count in wanted.items()
        if name in figures.found and figures.found[name] != count
    ]
