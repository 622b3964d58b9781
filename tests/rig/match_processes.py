"""Matches on real sites, watched by real processes that share a PostgreSQL, and a web app that tells of them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any, cast

import aiohttp
from sqlalchemy import func, select

from rig.clock import seeded_dice
from rig.processes import Child, Nursery
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import Telemetry, web_deps, web_extensions
from tidemill.core.snapshots.canonical import canonical
from tidemill.lab.faults import ScheduledFault, Timetable
from tidemill.lab.server import LabServer
from tidemill.services.stream_client import StreamClient
from tidemill.settings import load_settings
from tidemill.store.schema import jobs, workers
from tidemill.verticals.matches.lab.demo import MatchClock, without_browser
from tidemill.verticals.matches.lab.scripted import scripted_matches
from tidemill.verticals.matches.lab.sites import SITES, MatchSites, match_world
from tidemill.verticals.matches.lab.timeline import TrueMatch, dealt
from tidemill.web.app import create_app
from tidemill.web.serve import serve
from tidemill.web.stream.hub import StreamHub

FREE = {"interval_seconds": 0, "burst": 1, "parallel": 100}
QUICK = {"dispatch": "every 1h", "freshness": "every 1h"}
PATIENCE = 60


class MatchProcesses:
    """Sites, a database, processes and a web app; `said` is what the web app's listeners reported as trouble."""

    def __init__(self, nursery: Nursery, url: str, matches: Sequence[TrueMatch], clock: MatchClock) -> None:
        """Made by `match_processes`."""
        self.matches = matches
        self.clock = clock
        self.sites = MatchSites(matches)
        self.server = LabServer(match_world(self.sites), now=clock.now)
        self.address = ""
        self.troubles: list[str] = []
        self._nursery = nursery
        self._url = url
        self._port = 0
        self._web: asyncio.Task[None] | None = None
        self._hub: StreamHub | None = None
        self.system: System = build(self._settings())

    def _settings(self) -> Any:
        return load_settings(**self._named())

    def _named(self) -> dict[str, Any]:
        return {"database": self._url, "allow_networks": ["127.0.0.0/8"], "reader_processes": 0}

    async def begin(self, faults: Sequence[ScheduledFault] = ()) -> None:
        """Open the sites, and bring them in as sources."""
        self.sites.faults = Timetable(list(faults))
        served = await self.server.__aenter__()
        entries = [without_browser(entry) | {"pace": FREE} for entry in served.world.sources(interval_seconds=0)]
        done = await self.system.actions.importer.source_entries(entries, "test")
        assert not done.problems, done.problems

    @asynccontextmanager
    async def process(self, **settings: Any) -> AsyncIterator[Child]:
        """A process that watches, and says all that happens."""
        named = self._named() | {"ticks": QUICK, "lanes": ["live"]} | settings
        async with self._nursery.child("supervise", settings=named) as child:
            yield child

    async def serve(self) -> None:
        """Serve the web app, on the same port again."""
        telemetry = Telemetry(lambda words, error: self.troubles.append(f"{words}: {error!r}"))
        deps = web_deps(self.system, telemetry, "127.0.0.1")
        self._hub = deps.streams.hub
        app = create_app(deps, web_extensions(self.system, deps))
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = serve(app, "127.0.0.1", self._port, ready=ready.set_result, stopping=self._hub.close_soon)
        self._web = asyncio.create_task(serving)
        self.address = await ready
        self._port = int(self.address.rpartition(":")[2])

    async def stop_web(self) -> None:
        """Stop the web app in good order."""
        if self._web is not None and self._hub is not None:
            self._web.cancel()
            await asyncio.wait([self._web])
            await self._hub.close()

    async def restart_web(self) -> None:
        """Stop the web app, and serve again."""
        await self.stop_web()
        await self.serve()

    def longest_gap(self, after: int = 0) -> float:
        """The longest time in seconds between two requests for pages of matches, from the `after`-th request on."""
        asked = [each.at for each in self.server.log[after:] if each.path.startswith("/v1/matches/f")]
        return max((later - sooner for sooner, later in pairwise(asked)), default=0.0)

    async def polled_for(self, seconds: float) -> None:
        """Wait until pages were asked for during so many seconds more."""
        since = self.server.log[-1].at
        async with asyncio.timeout(seconds + PATIENCE):
            while self.server.log[-1].at - since < seconds:
                await a_moment(0)

    async def owner(self, processes: Sequence[Child], not_one: Child | None = None) -> Child:
        """Wait until one process watches all matches; return it."""
        query = (
            select(workers.c.pid, func.count())
            .join(jobs, jobs.c.leased_by == workers.c.id)
            .where(jobs.c.lane == "live", jobs.c.status == "leased")
            .group_by(workers.c.pid)
        )
        async with asyncio.timeout(PATIENCE):
            while True:
                async with self.system.store.database.read() as connection:
                    held = {row.pid: row[1] for row in await connection.execute(query)}
                for each in processes:
                    if each is not not_one and held.get(each.pid, 0) >= len(self.matches) + len(SITES):
                        return each
                await a_moment(0)

    def cut(self) -> None:
        """Cut every reader's connection, in the middle of whatever is sent."""
        for reader in list(self._hub.readers if self._hub else ()):
            cast("Any", reader).cut()

    async def close(self) -> None:
        """Close all of it."""
        await self.stop_web()
        await self.system.close()
        await self.server.__aexit__(None, None, None)

    @asynccontextmanager
    async def reader(self, session: aiohttp.ClientSession) -> AsyncIterator[StreamClient]:
        """A reader of all live matches."""
        client = StreamClient(
            session, f"{self.address}/api/v1/matches", "match", status="live", heartbeat=5, dice=seeded_dice(),
            pause=a_moment,
        )  # fmt: skip
        running = asyncio.create_task(client.run())
        try:
            yield client
        finally:
            client.stop()
            running.cancel()
            await asyncio.wait([running])

    async def holds_what_the_server_has(self, client: StreamClient) -> None:
        """Wait until a reader has the newest state of every match, byte for byte."""
        async with asyncio.timeout(PATIENCE):
            while True:
                keys = sorted(client.records)
                found = {each.thing.key: each for each in await self.system.store.snapshots.latest_of("matches", keys)}
                if keys and all(canonical(client.records[key].state) == found[key].encoded for key in keys):
                    return
                await a_moment(0)


async def a_moment(_seconds: float) -> None:
    """Let others go on for a little."""
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.05)


@asynccontextmanager
async def match_processes(
    nursery: Nursery, url: str, names: Sequence[str], *, speed: float, under_way: Any
) -> AsyncIterator[MatchProcesses]:
    """Scripted matches at a speed that have been played for a while."""
    clock = MatchClock(speed)
    matches = [dealt(each, 7, clock.began - under_way) for each in scripted_matches(7) if each.id in names]
    made = MatchProcesses(nursery, url, matches, clock)
    try:
        yield made
    finally:
        await made.close()
