"""A whole system on loopback: a site with an agenda, stand-ins for search, model and geocoder, a clock that jumps."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from rig.clock import NOON, SettableClock, seeded_dice
from rig.site import Site, a_site
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import System, build
from tidemill.lab.standins.gemini import GeminiStandin
from tidemill.lab.standins.nominatim import NominatimStandin
from tidemill.lab.standins.serper import SerperStandin
from tidemill.lab.standins.talk import StandinServer
from tidemill.settings import Settings
from tidemill.store.database.database import open_database

TOWNS = {"Arnhem": (51.9851, 5.8987), "Nijmegen": (51.8426, 5.8546)}


@dataclass
class Town:
    """Everything that a test turns."""

    system: System
    site: Site
    clock: SettableClock
    search: SerperStandin
    model: GeminiStandin
    geocoder: NominatimStandin
    told: list[Any]

    async def add_source(self, name: str = "arnhem", path: str = "/agenda", **fields: Any) -> None:
        """A source with one page, asked without a pause."""
        entry = {
            "name": name, "vertical": "events", "base_url": self.site.origin, "adapter": "events.generic",
            "city": "Arnhem", "latitude": 51.98, "longitude": 5.91, "pace": {"interval_seconds": 0},
            "targets": [{"url": self.site.origin + path}], **fields,
        }  # fmt: skip
        done = await self.system.actions.importer.source_entries([entry], "test")
        assert done.problems == []

    async def scrape(self) -> None:
        """Everything that is due, to the end of its runs."""
        await self.system.ticks.chores["dispatch"].run()
        await self.work_off()

    async def work_off(self) -> None:
        """Whatever waits in the queue."""
        while await self.system.make_drain().run("http") is not None:
            self.clock.advance(timedelta(seconds=1))
        await self.system.ticks.chores["close_runs"].run()

    async def enrich(self) -> str:
        """One pass, in its minute."""
        self.clock.advance(timedelta(minutes=1))
        return await self.system.ticks.chores["enrich"].run()

    async def next_day(self) -> None:
        """A day later everything is due again."""
        self.clock.advance(timedelta(days=1, minutes=2))

    async def rows(self, sql: str) -> list[Any]:
        """What the database says."""
        async with self.system.store.database.read() as connection:
            return [dict(row) for row in (await connection.execute(text(sql))).mappings()]

    async def events(self) -> dict[str, Any]:
        """Every event as readers get it, by title."""
        return {row["title"]: json.loads(row["record"]) for row in await self.rows("SELECT title, record FROM events")}

    async def degraded(self) -> list[Any]:
        """What each run had to do without."""
        rows = await self.rows("SELECT degraded FROM scrape_runs ORDER BY id")
        return [json.loads(row["degraded"]) if row["degraded"] else [] for row in rows]

    async def standing(self) -> dict[str, str]:
        """How each service stands."""
        return {one.service.value: one.state.value for one in await self.system.services.statuses()}


def agenda_page(events: Sequence[dict[str, Any]]) -> str:
    """A page with structured data; each event has at least a name and a startDate."""
    listed = [{"@context": "https://schema.org", "@type": "Event", **event} for event in events]
    return f'<html><title>Agenda</title><script type="application/ld+json">{json.dumps(listed)}</script></html>'


def happening(name: str, starts: str = "2026-04-04T20:00", place: str | None = None) -> dict[str, Any]:
    """An event's structured data."""
    told: dict[str, Any] = {"name": name, "startDate": starts}
    return told if place is None else {**told, "location": {"@type": "Place", "name": place}}


@asynccontextmanager
async def a_town(
    url: str,
    folder: Path,
    *,
    agendas: Any = None,
    think: Any = None,
    clock: SettableClock | None = None,
    **settings: Any,
) -> AsyncIterator[Town]:
    """A system with everything set up, unless `settings` say otherwise."""
    told: list[Any] = []
    clock = clock or SettableClock(NOON)
    search, geocoder = SerperStandin(agendas or {}), NominatimStandin(TOWNS)
    model = GeminiStandin(think) if think else GeminiStandin()
    async with (
        a_site() as site,
        StandinServer(search) as one,
        StandinServer(model) as two,
        StandinServer(geocoder) as three,
    ):
        wanted = {
            "allow_networks": ["127.0.0.0/8"], "pages_folder": folder / "pages", "service_timeout_seconds": 5,
            "search_key": "serper-key", "search_url": one.origin, "llm_key": "gemini-key", "llm_url": two.origin,
            "geocoder_url": three.origin, "discovery_interval_seconds": 0, "discovery_folder": folder, **settings,
        }  # fmt: skip
        database = open_database(url)
        system = build(
            Settings(**wanted), clock=clock, dice=seeded_dice(), database=database, announce=Listeners(told.append)
        )
        await system.worker.sign_in()
        try:
            yield Town(system, site, clock, search, model, geocoder, told)
        finally:
            await system.worker.sign_off()
            await system.close()
