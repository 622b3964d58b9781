"""The other side of the live benchmark, in a process of its own: sites that stand still, or a thousand readers."""

import asyncio
import contextlib
import json
import resource
import statistics
import sys
import time
from datetime import UTC, datetime, timedelta

import aiohttp

from tidemill.core.snapshots.sse import EventParser
from tidemill.lab.server import LabServer
from tidemill.verticals.matches.lab.scripted import scripted_matches
from tidemill.verticals.matches.lab.sites import MatchSites, match_world
from tidemill.verticals.matches.lab.timeline import dealt

BEGAN = datetime(2026, 3, 7, 9, tzinfo=UTC)
STANDS_AT = BEGAN + timedelta(minutes=20)
SLOW_BYTES = 512
PER_ADDRESS = 50


async def sites() -> None:
    """Serve matches whose clock stands still, until standard input closes."""
    matches = [dealt(played, 7, BEGAN) for played in scripted_matches(7)]
    async with LabServer(match_world(MatchSites(matches)), now=lambda: STANDS_AT) as server:
        print(json.dumps({"sources": server.world.sources(interval_seconds=0)}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def readers(url: str, count: int, slow: int) -> None:
    """Follow a stream with so many readers; print how late each delta came to those that are not slow."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    late: list[float] = []
    counts: list[int] = []
    limits = aiohttp.ClientTimeout(total=None)
    async with contextlib.AsyncExitStack() as stack:
        sessions = []
        for number in range(-(-count // PER_ADDRESS)):  # a server takes so many connections from one address
            connector = aiohttp.TCPConnector(limit=0, local_addr=(f"127.0.1.{number + 1}", 0))
            sessions.append(
                await stack.enter_async_context(
                    aiohttp.ClientSession(connector=connector, timeout=limits, read_bufsize=2**12)
                )
            )
        ready = asyncio.Semaphore(0)
        tasks = [
            asyncio.create_task(
                dawdling(sessions[number % len(sessions)], url, ready)
                if number < slow
                else quick(sessions[number % len(sessions)], url, late, counts, ready)
            )
            for number in range(count)
        ]
        for _ in tasks:
            await ready.acquire()
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    cut = statistics.quantiles(late, n=100)
    print(json.dumps({"p50": cut[49], "p95": cut[94], "p99": cut[98], "deliveries": len(late), "least": min(counts)}))


async def quick(
    session: aiohttp.ClientSession, url: str, late: list[float], counts: list[int], ready: asyncio.Semaphore
) -> None:
    """Read everything at once."""
    parser, seen = EventParser(), 0
    try:
        async with session.get(url) as response:
            async for piece in response.content.iter_any():
                now = time.time()  # noqa: TID251 - both ends are on this machine
                for event in parser.feed(piece):
                    if event.kind == "snapshot":
                        ready.release()
                    elif event.kind == "delta":
                        seen += 1
                        late.append(now - json.loads(event.data)["patch"]["committed"])
    finally:
        counts.append(seen)


async def dawdling(session: aiohttp.ClientSession, url: str, ready: asyncio.Semaphore) -> None:
    """Read a little now and then."""
    async with session.get(url) as response:
        await response.content.read(SLOW_BYTES)
        ready.release()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await asyncio.Event().wait()
            await response.content.read(SLOW_BYTES)


if __name__ == "__main__":
    if sys.argv[1] == "sites":
        asyncio.run(sites())
    else:
        asyncio.run(readers(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
