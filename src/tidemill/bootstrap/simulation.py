"""Build the system as the simulation runs it: all of it real but the clock, the dice, the web and the disk."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec

from tidemill.bootstrap.labs import LAB_PARTS
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.local_requests import LocalReader, local_reader
from tidemill.bootstrap.migrations import upgrade
from tidemill.bootstrap.system import System, build
from tidemill.core.schedules import Every
from tidemill.lab.simulation.system_under_test import SimulatedEnvironment, SystemUnderTest
from tidemill.lab.simulation.worker_control import WorkerControl
from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.database.sqlite import fleeting_engine

ACTOR = "simulation"
UNUSED_PREFIX = "TIDEMILL_SIMULATION_"
"""A prefix that no variable has: the same plan gives the same days whatever the environment holds."""

RARE_INTERVAL = timedelta(hours=6)
"""How often the simulation does periodic work for which it sets no rhythm."""

ONCE_A_DAY = "every 24h"

shared_engine = lru_cache(maxsize=1)(fleeting_engine)
"""One engine for all workers of a simulation, so that each new worker finds its statements compiled."""


class ControlledDatabase(Database):
    """The database as one simulated worker reaches it; a dead worker cannot."""

    lasting = False

    def __init__(self, engine: Any, control: WorkerControl) -> None:
        """Work on an inline engine, so that a transaction is one step."""
        super().__init__(engine)
        self._control = control

    def write(self) -> Any:
        """Open a write transaction."""
        self._control.check()
        return super().write()

    def read(self) -> Any:
        """Open a connection to read from."""
        self._control.check()
        return super().read()

    def glance(self) -> Any:
        """Open a connection for short reads."""
        self._control.check()
        return super().glance()


class SimulatedSystem:
    """A whole system, as the lab drives it."""

    def __init__(self, system: System) -> None:
        """Drive `system`."""
        self._system = system
        self._reader: LocalReader | None = None

    async def prepare(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Create the tables and import the sources."""
        await upgrade(self._system.store.database)
        done = await self._system.actions.importer.source_entries(sources, ACTOR)
        if done.problems:
            raise Mistake("; ".join(f"{each.field}: {each.message}" for each in done.problems))

    async def run(self) -> None:
        """Work until stopped."""
        await self._system.supervisor.run()

    def stop(self) -> None:
        """Finish the jobs in hand, then return from `run`."""
        self._system.supervisor.stop()

    async def switch(self, source: str, *, on: bool) -> None:
        """Switch a source on or off."""
        actions = self._system.actions.sources
        await (actions.enable(source, ACTOR) if on else actions.disable(source, ACTOR))

    async def answer(self, address: str, as_of: datetime | None) -> list[dict[str, Any]]:
        """Ask the system's own web app for a list."""
        if self._reader is None:
            self._reader = local_reader(self._system)
        return await self._reader.whole_list(address, **({} if as_of is None else {"as_of": as_of.isoformat()}))

    async def close(self) -> None:
        """Close files and connections."""
        await self._system.close()


def build_simulated_system(
    environment: SimulatedEnvironment, alter: Callable[[System], None] = lambda _: None
) -> SystemUnderTest:
    """Build a system in this environment; `alter` lets a test plant a bug in it."""
    system = build(
        simulated_settings(environment),
        announce=Listeners(environment.announce),
        clock=environment.clock,
        dice=environment.dice,
        database=ControlledDatabase(shared_engine(environment.database), environment.control),
        transport=environment.transport,
    )
    make_ticks_rare(system, simulated_ticks(environment))
    alter(system)
    return SimulatedSystem(system)


def simulated_settings(environment: SimulatedEnvironment) -> Settings:
    """Return the default settings with the simulation's coarser rhythms."""
    seconds = environment.lease.total_seconds()
    values: dict[str, Any] = {
        "_env_prefix": UNUSED_PREFIX,
        "database": f"sqlite:///{environment.database}",
        "pages_folder": environment.folder / "pages",
        "lease_seconds": seconds,
        "look_again_seconds": seconds,
        "ticks": simulated_ticks(environment),
        **environment.settings,
    }
    return Settings(**values)


def simulated_ticks(environment: SimulatedEnvironment) -> dict[str, str]:
    """Return the simulation's own rhythms, and once a day for verticals that have nothing to do in it."""
    idle = [name for part in LAB_PARTS if part.vertical != environment.vertical for name in part.idle_ticks]
    return {**dict.fromkeys(idle, ONCE_A_DAY), **environment.ticks}


def make_ticks_rare(system: System, named: Collection[str]) -> None:
    """Slow down periodic work that is due many times a day and has no rhythm of its own in the simulation.

    A month of it, each time with its row, would be most of what there is to do.
    """
    for name, tick in system.ticks.chores.items():
        if name not in named and tick.period < RARE_INTERVAL:
            system.ticks.chores[name] = msgspec.structs.replace(tick, schedule=Every(RARE_INTERVAL))
