"""The demo's other world: homes for rent in 19 cities, scraped over and over while two weeks pass in minutes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import msgspec

from tidemill.lab.demo import DemoOption, DemoTerms, ServedSites
from tidemill.operations.mistakes import Mistake
from tidemill.plugin import RunningSystem
from tidemill.verticals.listings.lab.server import homes_served
from tidemill.verticals.listings.parts import ListingsParts

AGAIN = timedelta(seconds=12)
"""How soon every market is scraped again: in the demo's world that is half a day."""
ROUND = 300.0
"""Seconds in which the two weeks pass, however long somebody looks on."""
REQUESTER = "demo"


def in_five_minutes(terms: DemoTerms) -> DemoTerms:
    """Let the whole timetable pass in one round."""
    return msgspec.structs.replace(terms, seconds=ROUND)


@asynccontextmanager
async def housing(terms: DemoTerms) -> AsyncIterator[ServedSites]:
    """Serve the housing market while entered."""
    faults = terms.faults or "all"
    if faults not in {"all", "none"}:
        msg = "the world of homes has its own faults: choose all or none"
        raise Mistake(msg)
    async with homes_served(terms.seed, timedelta(seconds=terms.seconds), faults=faults == "all") as served:
        yield served


@asynccontextmanager
async def scraped_over_and_over(system: RunningSystem) -> AsyncIterator[None]:
    """Ask for every market again and again while entered: a demo has no six hours to wait for the schedule."""
    asking = asyncio.create_task(ask_for_all(system))
    try:
        yield
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def ask_for_all(system: RunningSystem) -> None:
    """Have every market scraped now, and again after a while."""
    while True:
        markets = system.part(ListingsParts).markets
        for market in await markets.every():
            await markets.scrape(market.id, REQUESTER)
        await system.clock.sleep_until(system.clock.now() + AGAIN)


HOMES = DemoOption(
    name="homes",
    help="Homes for rent in 19 cities instead: two weeks in five minutes.",
    change_terms=in_five_minutes,
    serve=housing,
    while_running=scraped_over_and_over,
)
