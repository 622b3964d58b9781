"""The live lane over the lab's three sites of matches in virtual time: all real but the clock and the web."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rig.live_world import AwayDatabase, LaneProcess
from rig.match_logs import logs_of
from rig.watching import FREE, WatchStore
from tidemill.core.source import FetcherKind, Source
from tidemill.core.target import Target
from tidemill.engine.live.options import LaneOptions
from tidemill.lab.faults import ScheduledFault, Timetable
from tidemill.lab.transport import LabTransport
from tidemill.lab.world import World, WorldTerms
from tidemill.store.database.sqlite import fleeting_engine
from tidemill.store.live.ledger import LiveLedger
from tidemill.store.snapshots.log import SnapshotLog
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository
from tidemill.verticals.matches.definition import MATCHES
from tidemill.verticals.matches.lab.demo import without_browser
from tidemill.verticals.matches.lab.laws import LogVerdict, judged
from tidemill.verticals.matches.lab.sites import MatchSites
from tidemill.verticals.matches.lab.timeline import TrueMatch
from tidemill.verticals.matches.rules import labels_of
from tidemill.verticals.matches.store.identities import MatchIdentities


class FastSites:
    """The sites of matches, whose clock runs faster than ours."""

    def __init__(self, sites: MatchSites, speed: float, start: datetime) -> None:
        self.inner, self._speed, self._start = sites, speed, start

    def respond(self, request: Any, faults: Any, moment: datetime) -> Any:
        return self.inner.respond(request, faults, self._start + (moment - self._start) * self._speed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class MatchStore(WatchStore):
    """The ledger of the live lane with matches in it."""

    def __init__(self, database: Any, clock: Any) -> None:
        super().__init__(database, clock)
        identities = MatchIdentities(database, self.ids)
        self.verticals = {"matches": MATCHES}
        self.log = SnapshotLog(database, {"matches": labels_of})
        self.ledger = LiveLedger(database, self.ids, self.bodies, self.log, self.verticals, {"matches": identities})

    async def add_sites(self, entries: Sequence[dict[str, Any]]) -> None:
        """Add the sites as a sources file names them."""
        every = [field for field in Source.__struct_fields__ if field != "id"]
        sources = SourceRepository(self.database, self.ids)
        for entry in entries:
            wanted = Source(
                id=0, name=entry["name"], vertical="matches", base_url=entry["base_url"], adapter_id=entry["adapter"],
                pace=FREE, precedence=entry["precedence"], time_zone="UTC", language="en",
                adapter_settings=entry.get("settings", {}), fetcher=FetcherKind(entry.get("fetcher", "http")),
            )  # fmt: skip
            key = (await sources.upsert([(wanted, every)], self.clock.now()))[entry["name"]][0]
            url = entry["targets"][0]["url"]
            page = Target(
                id=0, source_id=key, url=url, canonical_url=url, host=entry["base_url"].partition("//")[2],
                adapter_id=entry["adapter"],
            )  # fmt: skip
            await TargetRepository(self.database, self.ids).upsert([(page, ["url", "host"])], self.clock.now())


class MatchLanes:
    """One database, three sites, and processes that watch, are killed, frozen and stopped."""

    def __init__(self, clock: Any, file: Path, folder: Path, matches: Sequence[TrueMatch], speed: float) -> None:
        self.clock, self.start = clock, clock.now()
        self.folder = folder
        self.matches = matches
        self.speed = speed
        self.database = AwayDatabase(fleeting_engine(file))
        self.store = MatchStore(self.database, clock)
        self.sites = MatchSites(matches)
        self.transport = LabTransport(World(WorldTerms(), [FastSites(self.sites, speed, self.start)]), clock)
        self.running: dict[LaneProcess, asyncio.Task[None]] = {}

    async def begin(self, faults: Sequence[ScheduledFault] = ()) -> None:
        """Let the sites be known, with these faults at moments of the matches."""
        self.sites.faults = Timetable(list(faults))
        await self.store.add_sites([without_browser(each) for each in self.sites.sources({}, None)])

    def process(self, name: str, **options: Any) -> LaneProcess:
        """A process that watches from now on."""
        made = self.make_process(name, LaneOptions(buffer_folder=self.folder, **options))
        self.running[made] = asyncio.create_task(made.run())
        return made

    def make_process(self, name: str, options: LaneOptions) -> LaneProcess:
        return LaneProcess(self.store, self.transport, self.clock, options, name)

    async def kill(self, process: LaneProcess) -> None:
        """End a process without a word: its tasks stop, and it never reaches the database again."""
        task = self.running.pop(process)
        self.database.is_away = True
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.database.is_away = False

    async def stop(self, process: LaneProcess) -> None:
        """End a process in good order."""
        process.lane.stop_claiming()
        await self.running.pop(process)

    async def wait(self, span: timedelta) -> None:
        """Let time pass."""
        await self.clock.sleep_until(self.clock.now() + span)

    async def until_played(self, after: timedelta = timedelta(minutes=1)) -> None:
        """Let time pass until the last match has ended, and a little longer."""
        ends = max(match.ends_at for match in self.matches)
        await self.clock.sleep_until(self.start + (ends - self.start) / self.speed + after)

    async def close(self) -> None:
        for process in list(self.running):
            await self.stop(process)
        await self.store.bodies.close()
        await self.database.close()

    async def verdicts(self) -> dict[str, LogVerdict]:
        """How the log of each match compares with the truth; also that it leads to the snapshot, byte for byte."""
        return {
            truth.played.id: judged(truth, steps)
            for title, steps in (await logs_of(self.database)).items()
            for truth in [self._truth(title)]
        }

    def _truth(self, title: str) -> TrueMatch:
        return next(match for match in self.matches if match.played.title == title)
