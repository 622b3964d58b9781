"""The system as the simulation runs it: everything real but the clock, the dice, the web and the disk."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

import msgspec

from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.migrations import upgrade
from tidemill.bootstrap.system import System, build
from tidemill.core.rhythm import Every
from tidemill.lab.leash import Leash
from tidemill.lab.system_under_test import SimulatedEnvironment, SystemUnderTest
from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.database.sqlite import fleeting_engine

ACTOR = "simulation"
NO_ENVIRONMENT = "TIDEMILL_SIMULATION_"
"""The prefix of variables that nobody sets: the same plan gives the same days whatever the environment says."""

SELDOM = timedelta(hours=6)
"""How often the simulation does periodic work for which it has no rhythm of its own."""

shared_engine = lru_cache(maxsize=1)(fleeting_engine)
"""One engine for all workers of a simulation: each has its statements put together already, though it is new."""


class LeashedDatabase(Database):
    """The database as one simulated worker reaches it: a dead worker does not."""

    lasting = False

    def __init__(self, engine: Any, leash: Leash) -> None:
        """Work on an inline engine, so that a transaction is one step."""
        super().__init__(engine)
        self._leash = leash

    def write(self) -> Any:
        """A write transaction."""
        self._leash.check()
        return super().write()

    def read(self) -> Any:
        """A connection to read from."""
        self._leash.check()
        return super().read()

    def glance(self) -> Any:
        """A connection for quick questions."""
        self._leash.check()
        return super().glance()


class SimulatedMill:
    """A whole system, as the lab drives it."""

    def __init__(self, system: System) -> None:
        """Drive `system`."""
        self._system = system

    async def prepare(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Make the tables and bring the sources in."""
        await upgrade(self._system.store.database)
        done = await self._system.actions.importer.source_entries(sources, ACTOR)
        if done.problems:
            raise Mistake("; ".join(f"{each.field}: {each.message}" for each in done.problems))

    async def run(self) -> None:
        """Work until stopped."""
        await self._system.supervisor.run()

    def stop(self) -> None:
        """Finish what is in hand, then leave."""
        self._system.supervisor.stop()

    async def switch(self, source: str, *, on: bool) -> None:
        """Switch a source on or off."""
        desk = self._system.actions.sources
        await (desk.enable(source, ACTOR) if on else desk.disable(source, ACTOR))

    async def close(self) -> None:
        """Let go of files and connections."""
        await self._system.close()


def build_mill(surroundings: SimulatedEnvironment, alter: Callable[[System], None] = lambda _: None) -> SystemUnderTest:
    """A system in these surroundings; `alter` lets a test plant a bug in it."""
    system = build(
        simulated_settings(surroundings),
        announce=Listeners(surroundings.announce),
        clock=surroundings.clock,
        dice=surroundings.dice,
        database=LeashedDatabase(shared_engine(surroundings.database), surroundings.leash),
        transport=surroundings.transport,
    )
    slow_down(system, surroundings.ticks)
    alter(system)
    return SimulatedMill(system)


def simulated_settings(surroundings: SimulatedEnvironment) -> Settings:
    """The defaults, with the simulation's coarser rhythms."""
    seconds = surroundings.lease.total_seconds()
    values: dict[str, Any] = {
        "_env_prefix": NO_ENVIRONMENT,
        "database": f"sqlite:///{surroundings.database}",
        "pages_folder": surroundings.folder / "pages",
        "lease_seconds": seconds,
        "look_again_seconds": seconds,
        "ticks": dict(surroundings.ticks),
        **surroundings.settings,
    }
    return Settings(**values)


def slow_down(system: System, named: Collection[str]) -> None:
    """Make periodic work seldom that is due many times a day and has no rhythm of its own in the simulation.

    A month of it, each time with its row, would be most of what there is to do.
    """
    for name, tick in system.ticks.all.items():
        if name not in named and tick.period < SELDOM:
            system.ticks.all[name] = msgspec.structs.replace(tick, rhythm=Every(SELDOM))
