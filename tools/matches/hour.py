"""Live matches at their own speed, watched by real processes for as long as told: how fresh, how late, how much.

The sites, the clock and the reader are here; the system is started as a user starts it, and only asked over HTTP.
"""

import asyncio
import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from tools.cluster.processes import BIN, ClusterProcess, free_port
from tools.matches.crowd import CutSites, ToldMoments, crowd, spread_of

from rig.chromium import descendants
from rig.played import saved
from tidemill.lab.server import LabServer, ServedRequest
from tidemill.lab.wall import wall_time
from tidemill.services.stream_client import StreamClient
from tidemill.verticals.matches.lab.demo import without_browser
from tidemill.verticals.matches.lab.scripted import scripted_matches
from tidemill.verticals.matches.lab.sites import BOARD, match_world

WARM_UP = 60.0
LOOK_EVERY = 2.0
TOLD_EVERY = 300.0
MEGABYTE = 1_000_000
FREE: dict[str, float] = {"interval_seconds": 0, "burst": 1, "parallel": 100}


class HourTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What is watched and for how long; `pages` matches are read in a browser beside, `pace` is requests a second."""

    folder: Path
    fixtures: Path
    matches: int = 40
    minutes: float = 60
    pages: int = 0
    pace: float = 0
    seed: int = 7


async def watched(terms: HourTerms) -> dict[str, Any]:
    """Watch, measure, and return what was found."""
    return await WatchedHour(terms).run()


class WatchedHour:
    """The sites with their matches, the system that watches them, and a reader of all."""

    def __init__(self, terms: HourTerms) -> None:
        """Nothing is started yet; a loop must run."""
        self.terms = terms
        lasts = timedelta(minutes=terms.minutes, seconds=3 * WARM_UP)
        played = [*scripted_matches(terms.seed), *saved(terms.fixtures)]
        self.matches = crowd(terms.matches, wall_time(), lasts, played, terms.seed)
        self.told = ToldMoments(self.matches)
        self.samples: dict[str, list[float]] = {}
        self.grades: dict[str, int] = {}
        self.wrong: list[str] = []
        self.sites, self.board_sites = CutSites(self.matches), CutSites(self.matches[: terms.pages])
        self.server = LabServer(match_world(self.sites), now=wall_time)
        self.boards = LabServer(match_world(self.board_sites), now=wall_time)
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        command = [str(BIN / "tidemill"), "--settings", str(terms.folder / "tidemill.toml")]
        self._command = command
        self.process = ClusterProcess("up", [*command, "up", "--port", str(port)], terms.folder, {})

    async def run(self) -> dict[str, Any]:
        """Watch, measure, and return what was found."""
        self._prepare()
        async with self.server, self.boards, aiohttp.ClientSession() as session:
            self._import()
            self.process.start()
            try:
                return await self._measured(session)
            finally:
                self.process.stop()

    def _prepare(self) -> None:
        shutil.rmtree(self.terms.folder, ignore_errors=True)
        self.terms.folder.mkdir(parents=True)
        settings = [f'database = "sqlite:///{self.terms.folder / "tidemill.db"}"', 'allow_networks = ["127.0.0.0/8"]']
        (self.terms.folder / "tidemill.toml").write_text("\n".join(settings) + "\n")

    def _import(self) -> None:
        entries = [
            without_browser(entry) | {"pace": self._pace()}
            for entry in self.server.world.sources(interval_seconds=0)
            if not (self.terms.pages and entry["name"].startswith(BOARD.partition(".")[0]))
        ]
        if self.terms.pages:
            entries.append(self.boards.world.sources(interval_seconds=0)[-1] | {"pace": FREE})
        file = self.terms.folder / "sources.yaml"
        file.write_text(json.dumps(entries))
        for words in (["migrate"], ["sources", "import", str(file)]):
            subprocess.run([*self._command, *words], check=True, stdout=subprocess.DEVNULL, cwd=self.terms.folder)

    def _pace(self) -> dict[str, float]:
        return FREE if not self.terms.pace else {"interval_seconds": 1 / self.terms.pace, "burst": 1, "parallel": 4}

    async def _measured(self, session: aiohttp.ClientSession) -> dict[str, Any]:
        await self._answers(session)
        async with self._reader(session) as reader:
            await pause(WARM_UP)
            self.told.reset()
            before, began, asked = self._written(), time.monotonic(), len(self.server.log) + len(self.boards.log)
            told_at = began
            while (passed := time.monotonic() - began) < self.terms.minutes * 60:
                await self._look(session, reader)
                if time.monotonic() - told_at > TOLD_EVERY:
                    told_at = time.monotonic()
                    print(f"{passed / 60:4.0f} min  {self._line()}", flush=True)
                await pause(LOOK_EVERY)
            written = {name: value - before[name] for name, value in self._written().items()}
            asked = len(self.server.log) + len(self.boards.log) - asked
            missing = self.told.missing(wall_time())
        return {
            **{name: spread_of(values) for name, values in self.samples.items()},
            "source change to delivered delta, s": spread_of(self.told.late),
            "drift": {name: _drift(self.samples[name]) for name in ("memory MB", "processes", "browser MB")},
            "bytes an hour": {name: round(value / self.terms.minutes * 60) for name, value in written.items()},
            "requests a second": asked / self.terms.minutes / 60,
            "most requests a second of one site, over ten seconds": busiest(self.server.log), "grades": self.grades,
            "states that no moment has": self.told.unknown, "matches not up to date": missing, "wrong": self.wrong,
        }  # fmt: skip

    async def _answers(self, session: aiohttp.ClientSession) -> None:
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"{self.address}/health") as response:
                        await response.read()
                        return
                await pause(0.2)

    @contextlib.asynccontextmanager
    async def _reader(self, session: aiohttp.ClientSession) -> AsyncIterator[StreamClient]:
        def heard(kind: str, data: dict[str, Any]) -> None:
            if kind in {"snapshot", "delta", "correction", "status"}:
                self.told.hear(client.records[data["match"]].state, wall_time())

        address = f"{self.address}/api/v1/matches"
        client = StreamClient(session, address, "match", status="live", heartbeat=5, heard=heard)
        running = asyncio.create_task(client.run())
        try:
            yield client
        finally:
            client.stop()
            running.cancel()
            await asyncio.wait([running])

    async def _look(self, session: aiohttp.ClientSession, reader: StreamClient) -> None:
        began = time.monotonic()
        try:
            async with session.get(f"{self.address}/health", timeout=aiohttp.ClientTimeout(10)) as response:
                health = await response.json()
            self._sample("/health, ms", 1000 * (time.monotonic() - began))
            grade = f"{health['status']}, live {health['live_grade']}"
            self.grades[grade] = self.grades.get(grade, 0) + 1
            await self._ages(session)
        except (aiohttp.ClientError, TimeoutError) as error:
            self.wrong.append(f"{wall_time():%H:%M:%S} {error!r}")
            return
        self._sample("readers that hold a live match as stale", sum(bool(e.stale) for e in reader.records.values()))
        whole = [self.process.pid, *descendants(self.process.pid)]
        self._sample("memory MB", _proportional(whole[:1]))
        self._sample("browser MB", _proportional(whole[1:]))
        self._sample("processes", len(whole))

    async def _ages(self, session: aiohttp.ClientSession) -> None:
        url = f"{self.address}/api/v1/matches?status=live&limit=200"
        async with session.get(url) as response:
            shown = (await response.json())["items"]
        at = wall_time()
        self._sample("live matches shown", len(shown))
        for each in shown:
            words = "check age in play, s" if self.told.in_play(each["title"], at) else "check age on a break, s"
            self._sample(words, each["data_age_seconds"])

    def _sample(self, name: str, value: float) -> None:
        self.samples.setdefault(name, []).append(value)

    def _line(self) -> str:
        late, ages = spread_of(self.told.late), spread_of(self.samples.get("check age in play, s", []))
        memory = self.samples["memory MB"]
        return (
            f"age {ages['p50']:.1f} / {ages['p95']:.1f} / {ages['max']:.1f} s, "
            f"told {late['p50']:.2f} / {late['p95']:.2f} / {late['p99']:.2f} s ({late['count']}), "
            f"{memory[0]:.0f} to {memory[-1]:.0f} MB, {self.samples['processes'][-1]:.0f} processes, "
            f"/health p95 {spread_of(self.samples['/health, ms'])['p95']:.0f} ms, {len(self.told.unknown)} unknown"
        )

    def _written(self) -> dict[str, int]:
        """Return the bytes that are kept, and those that went to the disk; the write-ahead log and logs left out."""
        found = {"database": 0, "pages": 0, "written to the disk by the process": _written_by(self.process.pid)}
        for file in self.terms.folder.rglob("*"):
            if file.is_file() and not file.name.endswith(("-wal", "-shm", ".log")):
                found["pages" if ".pages" in str(file.parent) else "database"] += file.stat().st_size
        return found


def busiest(log: Sequence[ServedRequest], seconds: float = 10.0) -> float:
    """Return the most requests a second that one site had over so many seconds."""
    most = 0
    for host in {each.host for each in log}:
        times = [each.at for each in log if each.host == host]
        first = 0
        for place, at in enumerate(times):
            while times[first] <= at - seconds:
                first += 1
            most = max(most, place - first + 1)
    return most / seconds


def _proportional(processes: Sequence[int]) -> float:
    """Return the memory of some processes in megabytes, what they share counted once."""
    total = 0
    for pid in processes:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / MEGABYTE


def _written_by(pid: int) -> int:
    words = Path(f"/proc/{pid}/io").read_text().split()
    return int(words[words.index("write_bytes:") + 1])


def _drift(values: Sequence[float]) -> str:
    """Return the mean of each sixth of the time."""
    size = max(1, len(values) // 6)
    parts = [values[start : start + size] for start in range(0, size * 6, size)]
    return " ".join(f"{sum(part) / len(part):.0f}" for part in parts if part)


async def pause(seconds: float) -> None:
    """Wait."""
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=seconds)
