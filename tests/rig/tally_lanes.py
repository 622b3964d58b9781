"""Tallies in virtual time, and processes with a live lane that come and go."""

import asyncio

import msgspec

from rig.clock import NOON
from rig.live_world import AwayDatabase, LaneProcess, TallySites, all_rows
from rig.watching import WatchStore
from tidemill.engine.live.options import LaneOptions
from tidemill.store.database.sqlite import fleeting_engine
from tidemill.store.schema import change_log, live_things


class TallyLanes:
    """One database, sites, and processes that come and go."""

    def __init__(self, clock, file, folder):
        self.clock = clock
        self.database = AwayDatabase(fleeting_engine(file))
        self.store = WatchStore(self.database, clock)
        self.sites = TallySites(clock)
        self.folder = folder
        self.running = {}

    def process(self, name="one", *, machine=None, **options):
        """A process that watches from now on, on a `machine` with so much memory."""
        lane_options = LaneOptions(buffer_folder=self.folder, **options)
        made = LaneProcess(self.store, self.sites, self.clock, lane_options, name, **(machine or {}))
        self.running[made] = asyncio.create_task(made.run())
        return made

    async def kill(self, process):
        """End a process without a word: its tasks stop, and it never reaches the database again."""
        task = self.running.pop(process)
        self.database.is_away = True  # what it does on its way out must not get through
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.database.is_away = False

    async def stop(self, process):
        process.lane.stop_claiming()
        await self.running.pop(process)

    async def until(self, after):
        await self.clock.sleep_until(NOON + after)

    async def close(self):
        for process in list(self.running):
            await self.stop(process)
        await self.store.bodies.close()
        await self.database.close()

    async def log(self, name="a"):
        return [row for row in await all_rows(self.database, change_log) if row["key"] == name]

    async def points(self, name="a"):
        """The points of a tally, change by change; moves between states of its life are left out."""
        told = []
        for row in await self.log(name):
            patch = msgspec.json.decode(row["patch"])
            told += [patch["points"]] if "points" in patch else []
        return told

    async def life(self, name="a"):
        return next(row["lifecycle"] for row in await all_rows(self.database, live_things) if row["key"] == name)
