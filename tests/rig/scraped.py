"""A system that has worked in the lab for a while: three sites, of which the last refuses everything, scraped once."""

from datetime import timedelta
from pathlib import Path

from rig.clock import NOON, SettableClock, seeded_dice
from tidemill.bootstrap.system import System, build
from tidemill.lab.faults import Forbidden403, ScheduledFault, Timetable
from tidemill.lab.transport import LabTransport
from tidemill.lab.world import WorldTerms
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.verticals.events.lab.group import world_of
from tidemill.verticals.events.lab.sites import build_sites

SITES = 3


async def scraped(database: Database, clock: SettableClock, folder: Path) -> System:
    """The system, its first runs closed."""
    sites = build_sites(7, SITES)
    ill = sites[-1].host
    refusing = ScheduledFault(host=ill, kind="forbidden", fault=Forbidden403(), begins=NOON - timedelta(days=1))
    world = world_of(sites, Timetable([refusing]), WorldTerms(start=NOON - timedelta(days=1)))
    settings = Settings(allow_networks=["127.0.0.0/8"], pages_folder=folder)
    transport = LabTransport(world, clock)
    system = build(settings, clock=clock, dice=seeded_dice(), database=database, transport=transport)
    await system.actions.importer.source_entries(world.sources(interval_seconds=0), "ans")
    await system.worker.sign_in()
    await system.ticks.tick("dispatch")
    await work_off(system, clock)
    return system


async def work_off(system: System, clock: SettableClock) -> None:
    """Drain until nothing waits, letting time pass, and close what is over."""
    while await system.make_drain().run("http") is not None:
        clock.advance(timedelta(seconds=1))
    await system.ticks.chores["close_runs"].run()
