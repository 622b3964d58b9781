"""Live matches on real processes that are killed, frozen and cut off: what each trouble costs, and when it is over.

A PostgreSQL, a Redis, a web app and two processes that watch. Each trouble must be over within two minutes by the
live grade, and no match may be unchecked for two minutes at two looks in a row, as the sites themselves see it.
"""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
from tools.cluster.processes import ClusterProcess, free_port
from tools.matches.crowd import spread_of
from tools.matches.hour import HourTerms, WatchedHour, pause

from rig.chromium import descendants
from rig.postgres_binaries import find_programs
from rig.redis import find_redis
from rig.restartable import RestartableServer
from tidemill.lab.wall import wall_time

OVER_WITHIN = 120.0
FREEZE, CUT, AWAY = 60.0, 30.0, 120.0
QUIET, WELL_WITHIN = 25.0, 10.0
"""So long all must have been well at a stretch, every match checked so many seconds ago at most."""
WATCHES = ("up", "--role", "worker", "--role", "ticks", "--lane", "live")


class TroubledHour(WatchedHour):
    """The same matches and reader, on processes that are in trouble one after the other."""

    def __init__(self, terms: HourTerms) -> None:
        """Nothing is started yet; a loop must run."""
        super().__init__(terms)
        self.unchecked: list[float] = []
        self.over: list[str] = []
        self._silent: set[str] = set()
        self._cut_at: float | None = None

    def _prepare(self) -> None:
        programs, redis = find_programs(), find_redis()
        assert programs is not None, "PostgreSQL is missing"  # noqa: S101 - a script
        assert redis is not None, "Redis is missing"  # noqa: S101 - a script
        super()._prepare()
        (self.terms.folder / "postgres").mkdir()
        for place in (self.terms.folder, self.terms.folder / "postgres"):
            place.chmod(0o755)
        self.postgres = RestartableServer(programs, self.terms.folder / "postgres")
        self.postgres.start()
        self._redis_port = free_port()
        self.redis = self._named("redis", str(redis), "--port", str(self._redis_port), "--bind", "127.0.0.1")
        self.redis.start()
        settings = {
            "database": self.postgres.url.replace("+asyncpg", ""), "redis": f"redis://127.0.0.1:{self._redis_port}/0",
            "live_buffer_folder": str(self.terms.folder),
        }  # fmt: skip
        lines = [f'{name} = "{value}"' for name, value in settings.items()] + ['allow_networks = ["127.0.0.0/8"]']
        (self.terms.folder / "tidemill.toml").write_text("\n".join(lines) + "\n")
        self.process.command += ["--role", "web"]
        self.watchers = [self._named(name, *self._command, *WATCHES) for name in ("one", "two")]

    def _named(self, name: str, *command: str) -> ClusterProcess:
        return ClusterProcess(name, command, self.terms.folder, {"TIDEMILL_WORKER_NAME": name})

    async def _measured(self, session: aiohttp.ClientSession) -> dict[str, Any]:
        for each in self.watchers:
            each.start()
        try:
            await self._answers(session)
            async with self._reader(session):
                await pause(60)
                self.told.reset()
                looking = asyncio.create_task(self._look_always(session))
                for name, trouble in self._troubles().items():
                    await self._suffer(session, name, trouble)
                looking.cancel()
                await asyncio.wait([looking])
                await pause(15)
                missing = self.told.missing(wall_time())
        finally:
            for process in (*self.watchers, self.redis):
                process.kill()
            self.process.kill()
            self.postgres.stop()
        return {
            "troubles": self.over, "unchecked as the sites see it, s": spread_of(self.unchecked), "wrong": self.wrong,
            "check age as the API tells it, s": spread_of(self.samples.get("check age in play, s", [])),
            "source change to delivered delta, s": spread_of(self.told.late), "grades": self.grades,
            "states that no moment has": self.told.unknown, "matches not up to date": missing,
        }  # fmt: skip

    def _troubles(self) -> dict[str, Callable[[ClusterProcess], Awaitable[None]]]:
        return {
            "worker killed": self._kill, "worker frozen for 60 s": self._freeze, "every site cut for 30 s": self._cut,
            "Redis flushed": self._flush, "browser killed": self._kill_browser, "driver killed": self._kill_driver,
            "database away for 120 s": self._lose_database, "database's connections cut": self._crash_database,
        }  # fmt: skip

    async def _suffer(
        self, session: aiohttp.ClientSession, name: str, trouble: Callable[[ClusterProcess], Awaitable[None]]
    ) -> None:
        before = len(self.unchecked)
        began = time.monotonic()
        await trouble(await self._owner(session))
        ended = well_since = time.monotonic()
        while (now := time.monotonic()) - well_since < QUIET and now - ended < OVER_WITHIN + QUIET:
            if not await self._is_well(session):
                well_since = time.monotonic()
            await pause(1)
        took, worst = well_since - ended, max(self.unchecked[before:], default=0.0)
        words = f"{name}: well {took:.0f} s after it ended, a match unchecked for {worst:.0f} s at most"
        self.over.append(words)
        if took >= OVER_WITHIN:
            self.wrong.append(words)
        print(f"{now - began:4.0f} s  {words}", flush=True)

    async def _owner(self, session: aiohttp.ClientSession) -> ClusterProcess:
        """Return the process that watches most."""
        async with asyncio.timeout(OVER_WITHIN), session.get(f"{self.address}/health") as response:
            workers = (await response.json())["workers"]
        jobs = {each["pid"]: each["jobs"] for each in workers}
        return max((each for each in self.watchers if each.is_running), key=lambda each: jobs.get(each.pid, 0))

    async def _is_well(self, session: aiohttp.ClientSession) -> bool:
        with suppress(aiohttp.ClientError, TimeoutError):
            async with session.get(f"{self.address}/health", timeout=aiohttp.ClientTimeout(5)) as response:
                health = await response.json()
                is_checked = max(self.unchecked[-len(self.matches) :], default=0.0) < WELL_WITHIN
                return health["live_grade"] == "healthy" and health["status"] != "down" and is_checked
        return False

    async def _look_always(self, session: aiohttp.ClientSession) -> None:
        while True:
            await self._look_at_api(session)
            self._look_at_sites()
            await pause(2)

    async def _look_at_api(self, session: aiohttp.ClientSession) -> None:
        try:
            async with session.get(f"{self.address}/health", timeout=aiohttp.ClientTimeout(5)) as response:
                health = await response.json()
            grade = f"{health['status']}, live {health['live_grade']}"
            self.grades[grade] = self.grades.get(grade, 0) + 1
            await self._ages(session)
        except (aiohttp.ClientError, TimeoutError, KeyError) as error:
            self.grades[f"no answer: {type(error).__name__}"] = (
                self.grades.get(f"no answer: {type(error).__name__}", 0) + 1
            )

    def _look_at_sites(self) -> None:
        """See for how long no site was asked about each match in play."""
        now, at = asyncio.get_running_loop().time(), wall_time()
        last: dict[str, float] = {}
        for asked in self.server.log[-6000:]:
            if self._cut_at is not None and asked.at >= self._cut_at:
                break
            last[asked.path.rpartition("/")[2].removesuffix(".json")] = asked.at
        silent = set()
        for match in self.matches:
            title = match.played.title
            if not self.told.in_play(title, at):
                continue
            age = now - max((when for name, when in last.items() if name.endswith(match.played.id)), default=now)
            self.unchecked.append(age)
            if age >= OVER_WITHIN:
                silent.add(title)
        self.wrong += [f"{at:%H:%M:%S} {title} unchecked twice" for title in silent & self._silent]
        self._silent = silent

    async def _kill(self, process: ClusterProcess) -> None:
        process.kill()
        await pause(5)
        process.start()

    async def _freeze(self, process: ClusterProcess) -> None:
        process.signal(signal.SIGSTOP)
        await pause(FREEZE)
        process.signal(signal.SIGCONT)

    async def _cut(self, process: ClusterProcess) -> None:
        del process
        self.sites.is_cut = self.board_sites.is_cut = True
        self._cut_at = asyncio.get_running_loop().time()
        await pause(CUT)
        self.sites.is_cut = self.board_sites.is_cut = False
        self._cut_at = None

    async def _flush(self, process: ClusterProcess) -> None:
        del process
        with socket.create_connection(("127.0.0.1", self._redis_port)) as line:
            line.sendall(b"FLUSHALL\r\n")
            assert line.recv(100).startswith(b"+OK")  # noqa: S101 - a script

    async def _kill_browser(self, process: ClusterProcess) -> None:
        self._kill_like(process, "headless")

    async def _kill_driver(self, process: ClusterProcess) -> None:
        self._kill_like(process, "driver")

    def _kill_like(self, process: ClusterProcess, word: str) -> None:
        """Kill what a process has started and whose command has a word in it."""
        killed = 0
        for pid in descendants(process.pid):
            with suppress(OSError):
                if word in Path(f"/proc/{pid}/cmdline").read_text():
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
        if not killed:
            self.wrong.append(f"nothing with {word!r} in its command was there to be killed")

    async def _lose_database(self, process: ClusterProcess) -> None:
        del process
        self.postgres.stop()
        await pause(AWAY)
        self.postgres.start()

    async def _crash_database(self, process: ClusterProcess) -> None:
        del process
        for pid in self.postgres.backends()[:1]:
            os.kill(pid, signal.SIGKILL)


async def troubled(terms: HourTerms) -> dict[str, Any]:
    """Watch through every trouble, and return what was found."""
    return await TroubledHour(terms).run()
