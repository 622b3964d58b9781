"""A whole system before a few sites of the lab: it is told to scrape them, and time passes as the test says."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Table, select

from rig.clock import NOON, SettableClock, seeded_dice
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System, build
from tidemill.core.run import RunSummary, Trigger
from tidemill.lab.faults import Fault, ScheduledFault, Timetable
from tidemill.lab.transport import LabTransport
from tidemill.lab.world import World, WorldTerms
from tidemill.pipeline.happenings import Happening, RunClosed
from tidemill.settings import Settings
from tidemill.store.database.database import open_database
from tidemill.verticals.events.lab.group import world_of
from tidemill.verticals.events.lab.sites import Site

DAY = timedelta(days=1)


def ill_from(host: str, fault: Fault, begins: timedelta, ends: timedelta | None = None) -> ScheduledFault:
    """A fault that begins, and may end, so long after noon."""
    return ScheduledFault(
        host=host,
        kind=type(fault).__name__,
        fault=fault,
        begins=NOON + begins,
        ends=None if ends is None else NOON + ends,
    )


class LabWorks:
    """The system, its world and its clock."""

    def __init__(self, system: System, world: World, clock: SettableClock, heard: list[Happening]) -> None:
        """Everything that is announced is heard."""
        self.system = system
        self.world = world
        self.clock = clock
        self.heard = heard

    async def scrape(self, *names: str) -> list[RunSummary]:
        """One run of every source, or of those named, carried to its end; answers how the runs ended."""
        begun = len(self.heard)
        for source in await self.system.store.sources.every():
            if not names or source.name in names:
                due = await self.system.store.agenda.of_source(source.id)
                await self.system.dispatcher.enqueue(due, Trigger.MANUAL)
        while await self.system.make_drain().run("http") is not None:
            self.clock.advance(timedelta(seconds=1))
        await self.system.ticks.chores["close_runs"].run()
        return [said.summary for said in self.heard[begun:] if isinstance(said, RunClosed)]

    def wait(self, time: timedelta = DAY) -> None:
        """Let time pass."""
        self.clock.advance(time)

    async def rows(self, table: Table, **equal: Any) -> list[Any]:
        """Rows of a table in key order."""
        query = select(table).order_by(*table.primary_key.columns)
        for name, value in equal.items():
            query = query.where(table.c[name] == value)
        async with self.system.store.database.read() as connection:
            return list((await connection.execute(query)).mappings())


@asynccontextmanager
async def lab_works(
    url: str,
    clock: SettableClock,
    folder: Path,
    sites: Sequence[Site],
    scheduled: Sequence[ScheduledFault] = (),
    **options: Any,
) -> AsyncIterator[LabWorks]:
    """A system on the database at `url` that knows the sites as its sources."""
    world = world_of(sites, Timetable(scheduled), WorldTerms(start=NOON - DAY))
    heard: list[Happening] = []
    announce = Listeners()
    announce.add(heard.append)
    settings = Settings(**{"allow_networks": ["127.0.0.0/8"], "pages_folder": folder, **options})
    system = build(
        settings,
        announce=announce,
        clock=clock,
        dice=seeded_dice(),
        database=open_database(url),
        transport=LabTransport(world, clock),
    )
    await system.actions.importer.source_entries(world.sources(interval_seconds=0), "ans")
    await system.worker.sign_in()
    try:
        yield LabWorks(system, world, clock, heard)
    finally:
        await system.close()
