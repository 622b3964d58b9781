"""Good pages with hostile ones among them, read by real workers that are killed; `--help` tells more."""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from rig.clock import seeded_dice
from rig.hostile_site import EVENTS_PER_PAGE, hostile_page
from rig.parent import TESTS
from rig.works import Works, the_works

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
        async with self._works.system.store.database.read() as connection:
            left = (await connection.execute(query)).all()
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
        async with self._works.system.store.database.read() as connection:
            good, every = (await connection.execute(query)).one()
        return int(good), int(every)

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
        """Kill a reader or, every fourth time, a whole worker, which another one replaces."""
        while sum(self._outcome.killed.values()) < self._crowd.kills:
            await pause(self._crowd.kill_every * (0.5 + self._dice.random()))
            number = int(self._dice.random() * len(self._workers))
            process, _ = self._workers[number]
            if self._dice.random() < 1 / 4:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
                self._outcome.killed["workers"] += 1
                self._workers[number] = await self._worker()
                with contextlib.suppress(TimeoutError):
                    await until_healthy(self._workers[number][1])
            elif readers := readers_of(process.pid):
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
        async with self._works.system.store.database.read() as connection:
            rows = (await connection.execute(text("SELECT url, status, failure FROM pipeline_jobs"))).all()
            outcome.events, again = (
                await connection.execute(
                    text(
                        "SELECT count(*), coalesce(sum(CASE WHEN times_seen > 1 THEN 1 ELSE 0 END), 0) FROM events"
                        " WHERE title LIKE 'Concert %'"
                    )
                )
            ).one()
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


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for told in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, told.read_text().split())
    return found


async def pause(seconds: float) -> None:
    """Look, or kill, again a little later."""
    await asyncio.sleep(seconds)  # noqa: TID251 - the time between two looks, not a time to wait for


async def until_healthy(port: int) -> None:
    """Wait until a worker answers."""
    async with asyncio.timeout(60):
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


async def main(arguments: argparse.Namespace) -> None:
    """Run once without hostile pages and once with them, each on a database of its own, and tell."""
    from tidemill.store.database.database import open_database  # noqa: PLC0415 - only when it is run by hand
    from tidemill.store.database.migrate import upgrade  # noqa: PLC0415 - see above

    for turn in range(arguments.rounds):
        for hostile in (0, arguments.hostile) if arguments.hostile else (0,):
            with tempfile.TemporaryDirectory() as folder:
                url = (
                    arguments.database.format(turn=f"{turn}_{hostile}")
                    if arguments.database
                    else f"sqlite:///{folder}/crowd.db"
                )
                database = open_database(url)
                await upgrade(database)
                await database.close()
                crowd = Crowd(good=arguments.good, hostile=hostile, workers=arguments.workers,
                              readers=arguments.readers, kills=arguments.kills,
                              kill_every=arguments.kill_every, seconds=arguments.seconds,
                              settings={"reader_cpu_seconds": arguments.cpu})  # fmt: skip
                outcome = await run_crowd(url, crowd)
                sys.stdout.write(f"-- {hostile} hostile among {arguments.good}, round {turn + 1}\n{outcome.told()}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--good", type=int, default=2_000)
    parser.add_argument("--hostile", type=int, default=40)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--readers", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--kill-every", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--cpu", type=float, default=5, help="processor seconds that a page may take")
    parser.add_argument("--database", default="", help="a PostgreSQL address with {turn} in its name; else SQLite")
    asyncio.run(main(parser.parse_args()))
