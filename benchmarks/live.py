"""What live polling and streams cost: `python -m benchmarks.live`.

A poll that changes nothing beside a bare aiohttp loop over the same pages, what it writes, and what a thousand readers
of one process cost and wait. Processor time, so that it means something on a machine that does other things too.
"""

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import aiohttp
import uvloop
import xxhash
from sqlalchemy import func, select

from benchmarks.servers import ROOT
from rig.migrated import migrate
from rig.streamed import TallyWriter
from rig.streaming import stream_server
from tidemill.bootstrap.system import System, build
from tidemill.engine.clock import RealClock
from tidemill.engine.interpreter import tune_interpreter
from tidemill.pipeline.happenings import PagePolled
from tidemill.settings import load_settings
from tidemill.store.database.database import open_database
from tidemill.store.schema import change_log, jobs, pages
from tidemill.verticals.matches.lab.demo import without_browser

FREE = {"interval_seconds": 0, "burst": 1, "parallel": 100}
WARM_UP = 8.0
SELDOM, OFTEN = 2.5, 0.5
SITES = 3
ROUNDS = 3
MEGABYTE = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--readers", type=int, default=1_000)
    parser.add_argument("--slow", type=int, default=50)
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    tune_interpreter()  # loop and interpreter are those of `tidemill up`, for both sides
    figures = uvloop.run(measured(arguments.seconds, arguments.readers, arguments.slow))
    for name, value in figures.items():
        print(f"{name:58} {value}")


async def measured(seconds: float, readers: int, slow: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="tidemill-live-") as folder:
        return await polls(Path(folder), seconds) | await streams(Path(folder), seconds, readers, slow)


async def polls(folder: Path, seconds: float) -> dict[str, str]:
    """What polls cost at two rates: what the lane does at all times is in both, and is not the polls'."""
    peer = await begin("sites")
    assert peer.stdout is not None
    sources = json.loads(await peer.stdout.readline())["sources"]
    try:
        rounds = [await one_round(folder / str(number), sources, seconds / ROUNDS) for number in range(ROUNDS)]
    finally:
        peer.kill()
        await peer.communicate()
    few, many = [each.few for each in rounds], [each.many for each in rounds]
    cost = median(each.cost for each in rounds)
    at_all_times = median(each.busy - each.polls * cost for each in few)
    return {
        "CPU of a poll that changes nothing": f"{cost:.3f} ms, from {few[0].polls:.0f} to {many[0].polls:.0f} a second",
        "CPU of a request in a bare loop that never rests": f"{median(each.bare for each in rounds):.3f} ms",
        "ratio within a round, at most 1.5": told(each.cost / each.bare for each in rounds),
        "CPU of a request in a bare loop at the same rates": f"{median(each.paced for each in rounds):.3f} ms",
        "ratio to that within a round": told(each.cost / each.paced for each in rounds),
        "CPU of what the lane does at all times": f"{at_all_times:.1f} ms a second",
        "rows written by polls, 0": f"{sum(each.rows for each in (*few, *many))}",
        "bytes kept an hour": f"{max(each.kept for each in many) * 3600 / MEGABYTE:.1f} MB",
    }


def told(ratios: Iterable[float]) -> str:
    """The median, and all of them."""
    known = list(ratios)
    return f"{median(known):.2f} ({', '.join(f'{each:.2f}' for each in known)})"


class Round(NamedTuple):
    """What both sides cost within a minute: milliseconds of a request, and the lane at two rates."""

    bare: float
    paced: float
    few: "PollFigures"
    many: "PollFigures"

    @property
    def cost(self) -> float:
        """Milliseconds of one poll more."""
        return (self.many.busy - self.few.busy) / (self.many.polls - self.few.polls)


async def one_round(folder: Path, sources: Sequence[dict[str, Any]], seconds: float) -> Round:
    """Measure each side once."""
    await asyncio.to_thread(folder.mkdir)
    urls = await pages_of(sources)
    return Round(
        bare=await bare_loop(urls, seconds / 2),
        paced=await paced_loop(urls, seconds),
        few=await watched(folder / "few", sources, seconds, every=SELDOM),
        many=await watched(folder / "many", sources, seconds, every=OFTEN),
    )


class PollFigures(NamedTuple):
    """What a second of polling cost: polls, milliseconds of CPU and bytes kept a second, and rows in all."""

    polls: float
    busy: float
    kept: float
    rows: int


async def watched(folder: Path, sources: Sequence[dict[str, Any]], seconds: float, *, every: float) -> PollFigures:
    """Watch pages that stand still for so many seconds."""
    await asyncio.to_thread(folder.mkdir)
    system, heard = await watching(folder, sources, every)
    running = asyncio.create_task(system.supervisor.run())
    await pause(WARM_UP)
    before, size = await rows_of(system), size_of(folder)
    heard.clear()
    began, used = time.monotonic(), time.process_time()
    await pause(seconds)
    used, took = time.process_time() - used, time.monotonic() - began
    rows, kept = await rows_of(system) - before, size_of(folder) - size
    polled = sum(isinstance(each, PagePolled) for each in heard)
    system.supervisor.stop()
    await running
    await system.close()
    return PollFigures(polled / took, 1000 * used / took, kept / took, rows)


async def watching(folder: Path, sources: Sequence[dict[str, Any]], every: float) -> tuple[System, list[Any]]:
    """A system that polls each page every so many seconds."""
    url = f"sqlite:///{folder / 'tidemill.db'}"
    migrate(url)
    settings = load_settings(
        database=url, allow_networks=["127.0.0.0/8"], lanes=["live"], reader_processes=0,
        live_interval_seconds=every, live_busy_seconds=every, live_break_seconds=max(1, every), live_list_seconds=5,
    )  # fmt: skip
    system = build(settings)
    heard: list[Any] = []
    system.announce.add(heard.append)
    entries = [without_browser(entry) | {"pace": FREE} for entry in sources]
    await system.actions.importer.source_entries(entries, "bench")
    return system, heard


async def rows_of(system: System) -> int:
    async with system.store.database.read() as connection:
        counts = [(await connection.execute(select(func.count()).select_from(each))).scalar_one()
                  for each in (pages, change_log, jobs)]  # fmt: skip
    return sum(counts)


def size_of(folder: Path) -> int:
    """The bytes that are kept; the write-ahead log is written over again and again."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and "-wal" not in file.name)


async def pages_of(sources: Sequence[dict[str, Any]]) -> list[str]:
    """The addresses of the matches that the first site lists."""
    listed = await fetched(f"{sources[0]['base_url']}/v1/matches.json")
    return [f"{sources[0]['base_url']}/v1/matches/{each['id']}.json" for each in listed["matches"]]


async def bare_loop(urls: Sequence[str], seconds: float) -> float:
    """Milliseconds of CPU of a request whose body is compared with the last one: nothing else is done."""
    seen: dict[str, int] = {}
    count = 0
    async with aiohttp.ClientSession() as session:
        until = time.monotonic() + seconds
        used = time.process_time()
        while time.monotonic() < until:
            for url in urls:
                async with session.get(url) as response:
                    seen[url] = xxhash.xxh3_64_intdigest(await response.read())
                count += 1
            await pause(0.05)
        return 1000 * (time.process_time() - used) / count


async def paced_loop(urls: Sequence[str], seconds: float) -> float:
    """The same for requests at the rates and over the pages of the lane, evenly spread: what one request more costs."""
    seldom, little = await at_rate([*urls] * SITES, seconds, SELDOM)
    often, much = await at_rate([*urls] * SITES, seconds, OFTEN)
    return (much - little) / (often - seldom)


async def at_rate(urls: Sequence[str], seconds: float, every: float) -> tuple[float, float]:
    """Ask for each address every so many seconds; requests, and milliseconds of CPU, a second."""
    seen: dict[str, int] = {}
    count = 0

    async def asks(session: aiohttp.ClientSession, url: str, at: float) -> None:
        nonlocal count
        while True:
            await pause(at - time.monotonic())
            async with session.get(url) as response:
                seen[url] = xxhash.xxh3_64_intdigest(await response.read())
            count += 1
            at += every

    async with aiohttp.ClientSession() as session:
        now = time.monotonic()
        tasks = [
            asyncio.create_task(asks(session, url, now + every * place / len(urls))) for place, url in enumerate(urls)
        ]
        await pause(every)
        count, began, used = 0, time.monotonic(), time.process_time()
        await pause(seconds)
        took, used, asked = time.monotonic() - began, time.process_time() - used, count
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return asked / took, 1000 * used / took


async def fetched(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.json()


async def streams(folder: Path, seconds: float, readers: int, slow: int) -> dict[str, str]:
    url = f"sqlite:///{folder / 'streams.db'}"
    migrate(url)
    database = open_database(url)
    writer = TallyWriter(database)
    clock = RealClock()
    await writer.score("a", 1, clock.now())
    async with stream_server(database, clock, writer.log) as server:
        peer = await begin("readers", f"{server.address}/a/stream", str(readers), str(slow))
        assert peer.stdout is not None
        assert (await peer.stdout.readline()).strip() == b"ready"
        memory, used, told = resident(), time.process_time(), 0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            told += 1
            now = time.time()  # noqa: TID251 - both ends are on this machine
            await writer.write("a", writer.states["a"] | {"committed": now}, clock.now())
            await pause(0.25)
        used, grown = time.process_time() - used, resident() - memory
        await pause(2)
        output, _ = await peer.communicate(b"\n")
        found = json.loads(output)
        counts = server.hub.counts
    await database.close()
    return {
        f"commit to receipt of {readers - slow:,} readers beside {slow} slow ones": (
            f"p50 {1000 * found['p50']:.0f}, p95 {1000 * found['p95']:.0f}, p99 {1000 * found['p99']:.0f} ms"
        ),
        "deltas delivered": f"{found['deliveries']:,}, {found['deliveries'] / seconds:,.0f} a second",
        "deltas that the reader with the fewest got, of all": f"{found['least']} of {told}",
        "CPU of a delivery, under 40 us": f"{1e6 * used / found['deliveries']:.1f} us",
        "slow readers told a whole state instead, cut off": f"{counts.conflated}, {counts.cut}",
        "memory that the server grew by meanwhile": f"{grown / MEGABYTE:.1f} MB",
    }


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def begin(*words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.live_peer", *words, cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**20,
    )  # fmt: skip


async def pause(seconds: float) -> None:
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=seconds)


if __name__ == "__main__":
    main()
