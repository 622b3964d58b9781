"""The lab's towns from an empty database to the reader, and then without model, geocoder and search in turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from rig.clock import NOON, SettableClock, seeded_dice
from rig.site import Site
from rig.town import Town
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.system import build
from tidemill.lab.server import LabServer
from tidemill.lab.standins.gemini import GeminiStandin
from tidemill.lab.standins.nominatim import NominatimStandin
from tidemill.lab.standins.serper import SerperStandin
from tidemill.lab.standins.talk import StandinFault, StandinServer
from tidemill.lab.world import WorldTerms
from tidemill.settings import Settings
from tidemill.store.database.database import open_database
from tidemill.store.schema import geocodes
from tidemill.verticals.events.lab.demo import MUNICIPALITIES, SITES, agendas_of, discover_and_review
from tidemill.verticals.events.lab.group import agenda_world


@pytest.fixture
async def world(migrated_sqlite_url: str, tmp_path: Path) -> AsyncIterator[tuple[Town, list[dict[str, Any]]]]:
    """The lab's towns, none of them known yet; and the sites as sources would name them."""
    clock = SettableClock(NOON)
    async with LabServer(agenda_world(SITES, WorldTerms(start=NOON)), now=clock.now) as server:
        entries = server.world.sources()
        async with a_system(migrated_sqlite_url, tmp_path, clock, entries) as town:
            yield town, entries


@asynccontextmanager
async def a_system(url: str, folder: Path, clock: SettableClock, entries: list[dict[str, Any]]) -> AsyncIterator[Town]:
    told: list[Any] = []
    towns = {entry["city"]: (entry["latitude"], entry["longitude"]) for entry in entries}
    search, model, geocoder = SerperStandin(agendas_of(entries)), GeminiStandin(), NominatimStandin(towns)
    async with StandinServer(search) as one, StandinServer(model) as two, StandinServer(geocoder) as three:
        settings = Settings(
            allow_networks=["127.0.0.0/8"], pages_folder=folder, search_key="serper-key", search_url=one.origin,
            llm_key="gemini-key", llm_url=two.origin, geocoder_url=three.origin, geocoder_interval_seconds=0,
        )  # fmt: skip
        database = open_database(url)
        system = build(
            settings, clock=clock, dice=seeded_dice(), database=database, announce=Listeners(told.append)
        )  # fmt: skip
        await system.worker.sign_in()
        try:
            yield Town(system, Site(), clock, search, model, geocoder, told)
        finally:
            await system.worker.sign_off()
            await system.close()


async def titles(town: Town) -> set[str]:
    return {row["identity"] for row in await town.rows("SELECT identity FROM events")}


async def runs_after(town: Town, newest: int) -> list[Any]:
    every = await town.rows("SELECT id, status, degraded FROM scrape_runs")
    return [run for run in every if run["id"] > newest]


async def a_day_without(town: Town, standin: Any) -> list[Any]:
    """A day on which one service is away, and nothing that it ever said is known; answers the day's runs."""
    newest = (await town.rows("SELECT max(id) AS id FROM scrape_runs"))[0]["id"]
    async with town.system.store.database.write() as connection:
        await connection.execute(delete(geocodes))
    standin.fault = StandinFault.DOWN
    town.clock.advance(timedelta(days=1))
    await town.scrape()
    await town.enrich()
    runs = await runs_after(town, newest)
    standin.fault = StandinFault.NONE
    return runs


@pytest.mark.shows("E5", "B15")
async def test_twelve_towns_come_from_the_search_to_the_reader_and_lose_nothing_without_their_services(world):
    town, entries = world
    found = await discover_and_review(town.system, entries)
    assert found.municipalities == MUNICIPALITIES == 12
    assert found.questions == 60
    assert found.approved >= 12
    await town.scrape()
    for _ in range(5):
        await town.enrich()
    served = await town.system.store.views.sources(town.clock.now())
    assert sum(source.records > 0 for source in served) == found.approved
    known = await titles(town)
    assert len(known) > 100
    rows = await town.rows("SELECT count(*) AS n FROM events WHERE latitude IS NULL")
    assert rows[0]["n"] == 0

    runs = await a_day_without(town, town.geocoder)
    assert {run["status"] for run in runs} == {"SUCCESS"}
    assert any("geocoder" in (run["degraded"] or "") for run in runs)
    assert known <= await titles(town)
    town.clock.advance(timedelta(hours=2))
    for _ in range(5):
        await town.enrich()
    assert await town.rows("SELECT * FROM enrichment_wants") == []
    assert (await town.standing())["geocoder"] == "works"

    town.model.fault = StandinFault.DOWN
    by_rules, _ = await town.system.discovery.run(only=["Rotterdam"])
    assert by_rules.places == ("Rotterdam",)
    town.model.fault = StandinFault.NONE

    town.search.fault = StandinFault.BROKEN
    without, _ = await town.system.discovery.run(only=["Amsterdam"])
    assert (without.waiting, without.degraded) == (("Amsterdam",), ("search",))
    assert (await town.standing())["search"] == "degraded"
    town.search.fault = StandinFault.NONE
    back, _ = await town.system.discovery.run(only=["Amsterdam"])
    assert (back.places, back.asked, back.degraded) == (("Amsterdam",), 5, ())
    assert (await town.standing())["search"] == "works"
