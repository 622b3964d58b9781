"""Good pages with hostile ones among them, read by real workers that are killed; `--help` tells more."""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.exc import SQLAlchemyError

from rig.clock import seeded_dice
from rig.hostile_site import EVENTS_PER_PAGE, hostile_page
from rig.parent import TESTS
from rig.postgres_binaries import find_programs
from rig.processes import children_of
from rig.restartable import a_restartable_server
from rig.works import Works, the_works
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import upgrade

HOSTS = 10
PACE = {"interval_seconds": 0, "burst": 4, "parallel": 4}
SLOW_HEALTH = 5.0
"""Seconds after which an answer of `/health` counts as none."""


@dataclass(frozen=True)
class Crowd:
    """How many pages, workers, readers each and kills; `seconds` is how long it may take in all."""

    good: int = 200
    hostile: int = 10
    workers: int = 1
    readers: int = 1
    kills: int = 0
    kill_every: float = 0.3
    seconds: float = 300
    settings: dict[str, object] = field(default_factory=dict)
    backends: Callable[[], list[int]] | None = None
    """The database's processes, where it is a server that is to be killed as well."""


@dataclass
class Outcome:
    """What came of it."""

    seconds: float = 0.0
    seconds_in_all: float = 0.0
    health: list[float] = field(default_factory=list)
    unanswered: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)
    hostile: dict[str, Counter[str]] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)
    events: int = 0
    doubled: int = 0
    innocent_letters: int = 0

    def told(self) -> str:
        """All of it in a few lines."""
        slowest = max(self.health, default=0.0)
        lines = [
            f"good pages: {dict(self.good)} in {self.seconds:.1f} s; everything in {self.seconds_in_all:.1f} s",
            f"events {self.events}, doubled {self.doubled}, innocent dead letters {self.innocent_letters}",
            f"/health: {len(self.health)} answers, slowest {slowest * 1e3:.0f} ms, unanswered {self.unanswered}",
            f"killed: {dict(self.killed)}, processor seconds: {self.cpu}",
            *(f"  {shape}: {dict(ends)}" for shape, ends in self.hostile.items()),
        ]
        return "\n".join(lines)


async def run_crowd(url: str, crowd: Crowd) -> Outcome:
    """Let workers read everything on an empty, migrated database; answers what came of it."""
    room: dict[str, Any] = {"max_pending": 100_000, "max_pending_per_adapter": 100_000}
    async with a_site(crowd.hostile) as port, the_works(url, **room) as works:
        await bring_in(works, port, crowd)
        return await Run(works, crowd).run()


@asynccontextmanager
async def a_site(hostile: int) -> AsyncIterator[int]:
    """The site's process; answers its port."""
    site = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rig.hostile_site", str(HOSTS), str(hostile)),
        stdout=asyncio.subprocess.PIPE,
        env=environment(),
    )
    assert site.stdout is not None
    try:
        yield int(await site.stdout.readline())
    finally:
        site.kill()
        await site.wait()


def environment(**more: str) -> dict[str, str]:
    """The environment of a child: our own, and the rig."""
    ours = dict(os.environ)  # noqa: TID251 - handed on, not read
    return {**ours, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]), **more}


async def bring_in(works: Works, port: int, crowd: Crowd) -> None:
    """A source per host; hostile pages spread evenly among the good ones."""
    paths = [f"/good/{number}" for number in range(crowd.good)]
    for number in range(crowd.hostile):
        paths.insert((number + 1) * len(paths) // (crowd.hostile + 1), f"/hostile/{number}")
    for host in range(HOSTS):
        origin = f"http://127.0.0.{host + 1}:{port}"
        entry = {"name": f"host {host}", "vertical": "events", "base_url": origin, "adapter": "events.generic",
                 "city": "Utrecht", "latitude": 52.09, "longitude": 5.12,
                 "pace": PACE, "targets": [{"url": origin + path} for path in paths[host::HOSTS]]}  # fmt: skip
        done = await works.system.actions.importer.source_entries([entry], "test")
        assert not done.problems, done.problems
        await works.enqueue((await works.system.actions.sources.find(f"host {host}")).id)


class Run:
    """Workers under way, watched and killed."""

    def __init__(self, works: Works, crowd: Crowd) -> None:
        """Nothing is started yet."""
        self._works = works
        self._crowd = crowd
        self._workers: list[tuple[asyncio.subprocess.Process, int]] = []
        self._dice = seeded_dice(1)
        self._outcome = Outcome()

    async def run(self) -> Outcome:
        """Work until every job has ended."""
        for _ in range(self._crowd.workers):
            self._workers.append(await self._worker())
        for _, port in self._workers:
            await until_healthy(port)
        background = [asyncio.create_task(self._watch_health())]
        if self._crowd.kills:
            background.append(asyncio.create_task(self._kill()))
        try:
            await self._until_done()
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await self._stop()
        return await self._count()

    async def _worker(self) -> tuple[asyncio.subprocess.Process, int]:
        port = free_port()
        settings = {"database": self._works.url, "allow_networks": ["127.0.0.0/8"], "web_port": port,
                    "lease_seconds": 3, "look_again_seconds": 1, "reader_processes": self._crowd.readers,
                    "ticks": {"rescue": "every 1s", "dispatch": "every 12h"}, "log_level": "error",
                    **self._crowd.settings}  # fmt: skip
        told = {f"TIDEMILL_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
                for name, value in settings.items()}  # fmt: skip
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tidemill", "up", stdout=asyncio.subprocess.DEVNULL, env=environment(**told)
        )
        return process, port

    async def _until_done(self) -> None:
        began = time.perf_counter()
        while True:
            if time.perf_counter() - began > self._crowd.seconds:
                await self._give_up()
            open_good, open_all = await self._open_jobs()
            if not open_good and not self._outcome.seconds:
                self._outcome.seconds = time.perf_counter() - began
            if not open_all:
                self._outcome.seconds_in_all = time.perf_counter() - began
                self._outcome.cpu = self._cpu()
                return
            await pause(0.05)

    async def _give_up(self) -> None:
        """Say what is left, and fail."""
        query = text("SELECT status, current_stage, deaths, failure, count(*) FROM pipeline_jobs GROUP BY 1, 2, 3, 4")
        left = await self._asked(query)
        msg = f"not done in {self._crowd.seconds} s after {dict(self._outcome.killed)}: {[tuple(row) for row in left]}"
        raise AssertionError(msg)

    def _cpu(self) -> dict[str, float]:
        """Processor seconds of the workers, and of their readers."""
        workers = [process.pid for process, _ in self._workers]
        servers = [child for worker in workers for child in children_of(worker)]
        readers = [*servers, *(child for server in servers for child in children_of(server))]
        return {"workers": round(sum(map(cpu_of, workers)), 2), "readers": round(sum(map(cpu_of, readers)), 2)}

    async def _open_jobs(self) -> tuple[int, int]:
        query = text(
            "SELECT coalesce(sum(CASE WHEN url LIKE '%/good/%' THEN 1 ELSE 0 END), 0), count(*) FROM pipeline_jobs"
            " WHERE status IN ('ready', 'waiting', 'leased')"
        )
        ((good, every),) = await self._asked(query)
        return int(good), int(every)

    async def _asked(self, query: TextClause) -> Sequence[Any]:
        """The rows of a query; a database that was killed is asked again until it is back."""
        while True:
            with contextlib.suppress(StoreError, OSError, SQLAlchemyError):
                async with self._works.system.store.database.read() as connection:
                    return (await connection.execute(query)).all()
            await pause(0.1)

    async def _watch_health(self) -> None:
        while True:
            for process, port in list(self._workers):
                began = time.perf_counter()
                if await is_healthy(port):
                    self._outcome.health.append(time.perf_counter() - began)
                elif process.returncode is None and not self._crowd.kills:
                    self._outcome.unanswered += 1
            await pause(0.05)

    async def _kill(self) -> None:
        """Kill a reader or, every sixth time, a whole worker, which another one replaces; or crash the database."""
        while sum(self._outcome.killed.values()) < self._crowd.kills:
            await pause(self._crowd.kill_every * (0.5 + self._dice.random()))
            number = int(self._dice.random() * len(self._workers))
            process, _ = self._workers[number]
            backends = self._crowd.backends() if self._crowd.backends is not None else []
            if backends and self._dice.random() < 1 / 5:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(backends[int(self._dice.random() * len(backends))], signal.SIGKILL)
                self._outcome.killed["the database"] += 1
            elif not (readers := readers_of(process.pid)):
                continue  # it is starting: killing it again would only keep it from work
            elif self._dice.random() < 1 / 6:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
                self._outcome.killed["workers"] += 1
                self._workers[number] = await self._worker()
            else:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(readers[int(self._dice.random() * len(readers))], signal.SIGKILL)
                self._outcome.killed["readers"] += 1

    async def _stop(self) -> None:
        for process, _ in self._workers:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
        for process, _ in self._workers:
            try:
                await asyncio.wait_for(process.wait(), 20)
            except TimeoutError:
                process.kill()
                await process.wait()

    async def _count(self) -> Outcome:
        outcome = self._outcome
        rows = await self._asked(text("SELECT url, status, failure FROM pipeline_jobs"))
        seen = "SELECT count(*), coalesce(sum(CASE WHEN times_seen > 1 THEN 1 ELSE 0 END), 0) FROM events"
        ((outcome.events, again),) = await self._asked(text(f"{seen} WHERE title LIKE 'Concert %'"))
        outcome.doubled = int(again)
        for url, status, failure in rows:
            _, kind, number = url.rsplit("/", 2)
            end = f"{status} {failure}" if failure else status
            if kind == "good":
                outcome.good[end] += 1
                outcome.innocent_letters += status != "done"
            else:
                outcome.hostile.setdefault(hostile_page(int(number))[0], Counter())[end] += 1
        return outcome


def readers_of(worker: int) -> list[int]:
    """The readers of a worker: the children of its children."""
    return [grandchild for child in children_of(worker) for grandchild in children_of(child)]


def cpu_of(pid: int) -> float:
    """Processor seconds of a process and of its ended children."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


async def pause(seconds: float) -> None:
    """Look, or kill, again a little later."""
    await asyncio.sleep(seconds)  # noqa: TID251 - the time between two looks, not a time to wait for


async def until_healthy(port: int) -> None:
    """Wait until a worker answers."""
    async with asyncio.timeout(300):
        while not await is_healthy(port):
            await pause(0.1)


async def is_healthy(port: int) -> bool:
    """Whether `/health` answers at all, whatever it says."""
    try:
        async with asyncio.timeout(SLOW_HEALTH):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                return (await reader.read()).startswith(b"HTTP/1.1 ")
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError):
        return False


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def expected_events(crowd: Crowd) -> int:
    """How many events the good pages hold."""
    return crowd.good * EVENTS_PER_PAGE


async def main(arguments: argparse.Namespace) -> int:
    """Run on a fresh database each time: without hostile pages and with them, or until enough was killed."""
    with a_store(arguments) as (addresses, backends):
        if arguments.kills:
            return await kill_until_enough(arguments, addresses, backends)
        for turn in range(arguments.rounds):
            for hostile in (0, arguments.hostile) if arguments.hostile else (0,):
                outcome = await run_crowd(await migrated(next(addresses)), crowd_of(arguments, hostile=hostile))
                say(f"-- {hostile} hostile among {arguments.good}, round {turn + 1}\n{outcome.told()}")
    return 0


async def kill_until_enough(
    arguments: argparse.Namespace, addresses: Iterator[str], backends: Callable[[], list[int]] | None
) -> int:
    """Run crowd after crowd until so much was killed, or the time is up; answers how many laws were broken."""
    killed: Counter[str] = Counter()
    broken = pages = 0
    began = time.perf_counter()
    while killed.total() < arguments.kills and time.perf_counter() - began < arguments.minutes * 60:
        left = arguments.kills - killed.total()
        crowd = crowd_of(arguments, hostile=arguments.hostile, kills=left, backends=backends)
        outcome = await run_crowd(await migrated(next(addresses)), crowd)
        killed += outcome.killed
        pages += sum(outcome.good.values())
        lost = arguments.good - outcome.good["done"] + abs(expected_events(crowd) - outcome.events)
        broken += lost + outcome.doubled + outcome.innocent_letters
        say(f"{dict(killed)}: {pages} good pages, {broken} lost, doubled or buried")
        if broken:
            say(outcome.told())
    say(f"killed {dict(killed)}, {killed.total()} in all, in {time.perf_counter() - began:.0f} s:"
        f" {pages} good pages, lost, doubled or buried {broken}")  # fmt: skip
    return broken


@contextlib.contextmanager
def a_store(arguments: argparse.Namespace) -> Iterator[tuple[Iterator[str], Callable[[], list[int]] | None]]:
    """Where fresh databases are to be had, and the processes of their server."""
    with contextlib.ExitStack() as stack:
        if not arguments.postgres:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            yield (f"sqlite:///{folder}/crowd_{number}.db" for number in itertools.count()), None
            return
        programs = find_programs()
        if programs is None:
            msg = "there is no PostgreSQL on this machine"
            raise SystemExit(msg)
        server = stack.enter_context(a_restartable_server(programs))
        yield (server.fresh_database() for _ in itertools.count()), server.backends


async def migrated(url: str) -> str:
    """Make the tables of a database; answers its address."""
    database = open_database(url)
    await upgrade(database)
    await database.close()
    return url


def crowd_of(arguments: argparse.Namespace, **more: Any) -> Crowd:
    """The crowd that was asked for."""
    return Crowd(
        good=arguments.good, workers=arguments.workers, readers=arguments.readers, kill_every=arguments.kill_every,
        seconds=arguments.seconds, settings={"reader_cpu_seconds": arguments.cpu}, **more,
    )  # fmt: skip


def say(words: str) -> None:
    """Tell at once."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--good", type=int, default=2_000)
    parser.add_argument("--hostile", type=int, default=40)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--readers", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0, help="kill so many processes in all, crowd after crowd")
    parser.add_argument("--kill-every", type=float, default=0.3)
    parser.add_argument("--minutes", type=float, default=30, help="no new crowd of kills after this time")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--cpu", type=float, default=5, help="processor seconds that a page may take")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server of its own; else on SQLite")
    sys.exit(asyncio.run(main(parser.parse_args())))
