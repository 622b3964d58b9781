"""`tidemill simulate`: a month of faults in a minute, and whether every law held."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tidemill.bootstrap import Listeners, System, build
from tidemill.lab.leash import Leash
from tidemill.lab.mill import Mill, Surroundings
from tidemill.settings import Settings
from tidemill.store.database import Database
from tidemill.store.migrate import upgrade
from tidemill.store.sqlite import fleeting_engine


class LeashedDatabase(Database):
    """The database as one simulated worker reaches it."""

    def __init__(self, engine: Any, leash: Leash) -> None:
        super().__init__(engine)
        self._leash = leash

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Any]:
        self._leash.check()
        async with super().write() as connection:
            yield connection

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Any]:
        self._leash.check()
        async with super().read() as connection:
            yield connection

    @asynccontextmanager
    async def glance(self) -> AsyncIterator[Any]:
        self._leash.check()
        async with super().glance() as connection:
            yield connection


class SimulatedMill:
    def __init__(self, system: System) -> None:
        self._system = system

    async def prepare(self, sources: Sequence[Mapping[str, Any]]) -> None:
        await upgrade(self._system.store.database)
        done = await self._system.desks.importer.source_entries(sources, "simulation")
        assert not done.problems

    async def run(self) -> None:
        await self._system.supervisor.run()

    def stop(self) -> None:
        self._system.supervisor.stop()

    async def switch(self, source: str, *, on: bool) -> None:
        desk = self._system.desks.sources
        await (desk.enable(source, "simulation") if on else desk.disable(source, "simulation"))

    async def close(self) -> None:
        await self._system.close()


def build_mill(surroundings: Surroundings, alter: Callable[[System], None] = lambda _: None) -> Mill:
    settings = Settings(
        database=f"sqlite:///{surroundings.database}",
        pages_folder=surroundings.folder / "pages",
        lease_seconds=surroundings.lease.total_seconds(),
        ticks=dict(surroundings.ticks),
    )
    system = build(
        settings,
        announce=Listeners(surroundings.announce),
        clock=surroundings.clock,
        dice=surroundings.dice,
        database=LeashedDatabase(fleeting_engine(surroundings.database), surroundings.leash),
        transport=surroundings.transport,
    )
    alter(system)
    return SimulatedMill(system)
