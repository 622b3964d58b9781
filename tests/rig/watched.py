"""A whole system in virtual time with Slack and a dead-man service beside it, neither with a socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from rig.clock import SettableClock
from rig.memory_services import UnreachableTransport
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System, build
from tidemill.lab.standins.pinged import PingedStandin
from tidemill.lab.standins.slack import PATH, SlackStandin
from tidemill.lab.standins.talk import StandinTransport
from tidemill.pipeline.happenings import Happening
from tidemill.settings import Settings
from tidemill.store.database.database import Database
from tidemill.store.schema import incidents

MINUTE = timedelta(minutes=1)
SLACK, PINGED = "https://hooks.slack.example", "https://pinged.example"


class Watched:
    """What a test does with it: let minutes pass, and see what was said."""

    def __init__(self, system: System, clock: SettableClock, heard: list[Happening]) -> None:
        """Slack and the pinged service are `slack` and `pinged`."""
        self.system, self.clock, self.heard = system, clock, heard
        self.slack, self.pinged = SlackStandin(), PingedStandin()

    async def evaluate(self) -> str:
        """Run the alerts now."""
        return await self.system.alerts.evaluation.run()

    async def send(self) -> str:
        """Send what waits."""
        return await self.system.alerts.sender.run()

    async def minutes(self, count: int, step: timedelta = MINUTE) -> None:
        """Let so many steps pass, with alerts and outbox in each."""
        for _ in range(count):
            before = self.clock.now()
            await self.evaluate()
            await self.send()
            self.clock.set(max(before + step, self.clock.now()))

    async def open(self) -> list[str]:
        """The alerts of open incidents."""
        return sorted(each.alert for each in await self.system.actions.incidents.every())

    async def all_rows(self) -> list[Any]:
        """Every incident's row."""
        async with self.system.store.database.read() as connection:
            return list((await connection.execute(select(incidents).order_by(incidents.c.id))).mappings())


@asynccontextmanager
async def a_watched(
    database: Database, clock: SettableClock, url: str = "sqlite:///unused.db", **settings: Any
) -> AsyncIterator[Watched]:
    """A system on this database that tells Slack."""
    heard: list[Happening] = []
    values: dict[str, Any] = {
        "_env_prefix": "TIDEMILL_UNUSED_", "database": url, "slack_webhook": SLACK + PATH,
        "deadman_url": f"{PINGED}/me",
    }  # fmt: skip
    watched: Watched | None = None
    slack, pinged = SlackStandin(), PingedStandin()
    transport = StandinTransport({SLACK: slack, PINGED: pinged}, clock, UnreachableTransport())
    system = build(
        Settings(**values | settings), announce=Listeners(heard.append), clock=clock, database=database,
        transport=transport,
    )  # fmt: skip
    watched = Watched(system, clock, heard)
    watched.slack, watched.pinged = slack, pinged
    try:
        yield watched
    finally:
        await system.close()


def at(clock: SettableClock, **ago: float) -> datetime:
    """A moment before now."""
    return clock.now() - timedelta(**ago)
