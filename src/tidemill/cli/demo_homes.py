"""The demo's other world: homes for rent in 19 cities, scraped over and over while two weeks pass in minutes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from tidemill.bootstrap.system import System
from tidemill.cli.demo_lab import LabTerms
from tidemill.operations.mistakes import Mistake
from tidemill.verticals.listings.lab.server import homes_served
from tidemill.verticals.listings.parts import ListingsParts

AGAIN = timedelta(seconds=12)
"""How soon every market is scraped again: in the demo's world that is half a day."""
REQUESTER = "demo"


@asynccontextmanager
async def housing(terms: LabTerms) -> AsyncIterator[tuple[list[dict[str, Any]], Mapping[str, Any]]]:
    """Serve the housing market while entered; answers its sources and the settings that reach its actor."""
    if terms.faults not in {"all", "none"}:
        msg = "the world of homes has its own faults: choose all or none"
        raise Mistake(msg)
    lasts = timedelta(seconds=terms.seconds)
    async with homes_served(terms.seed, lasts, faults=terms.faults == "all") as served:
        yield served.sources, served.settings


@asynccontextmanager
async def scraped_over_and_over(system: System) -> AsyncIterator[None]:
    """Ask for every market again and again while entered: a demo has no six hours to wait for the schedule."""
    asking = asyncio.create_task(ask_for_all(system))
    try:
        yield
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def ask_for_all(system: System) -> None:
    """Have every market scraped now, and again after a while."""
    while True:
        for market in await system.part(ListingsParts).markets.every():
            await system.part(ListingsParts).markets.scrape(market.id, REQUESTER)
        await system.clock.sleep_until(system.clock.now() + AGAIN)
