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
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import xxhash
from sqlalchemy import func, select

from benchmarks.servers import ROOT
from rig.migrated import migrate
from rig.streamed import TallyWriter
from rig.streaming import stream_server
from tidemill.bootstrap.system import System, build
from tidemill.engine.clock import RealClock
from tidemill.pipeline.happenings import PagePolled
from tidemill.settings import load_settings
from tidemill.store.database.database import open_database
from tidemill.store.schema import change_log, jobs, pages
from tidemill.verticals.matches.lab.demo import without_browser

FREE = {"interval_seconds": 0, "burst": 1, "parallel": 100}
WARM_UP = 8.0
MEGABYTE = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--readers", type=int, default=1_000)
    parser.add_argument("--slow", type=int, default=50)
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    figures = asyncio.run(measured(arguments.seconds, arguments.readers, arguments.slow))
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
        bare = await bare_loop(sources, seconds / 2)
        few = await watched(folder / "few", sources, seconds, every=2.5)
        many = await watched(folder / "many", sources, seconds, every=0.5)
    finally:
        peer.kill()
        await peer.communicate()
    cost = (many.busy - few.busy) / (many.polls - few.polls)
    return {
        "CPU of a poll that changes nothing": f"{cost:.3f} ms, from {few.polls:.0f} to {many.polls:.0f} a second",
        "CPU of a request in a bare aiohttp loop": f"{bare:.3f} ms",
        "ratio, at most 1.5": f"{cost / bare:.2f}",
        "CPU of what the lane does at all times": f"{few.busy - few.polls * cost:.1f} ms a second",
        "rows written by polls, 0": f"{few.rows + many.rows}",
        "bytes kept an hour": f"{many.kept * 3600 / MEGABYTE:.1f} MB",
    }


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


async def bare_loop(sources: Sequence[dict[str, Any]], seconds: float) -> float:
    """Milliseconds of CPU of a request whose body is compared with the last one: nothing else is done."""
    urls = [
        f"{entry['base_url']}/v1/matches/{each['id']}.json"
        for entry in sources[:1]
        for each in (await fetched(f"{entry['base_url']}/v1/matches.json"))["matches"]
    ]
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
