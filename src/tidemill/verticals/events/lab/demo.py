"""The demo's other beginning: no source is known, and municipalities are searched for agendas first.

Search, model and geocoder are stand-ins on this machine that speak the APIs of the real ones.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

import msgspec

from tidemill.core.discovery.candidates import CandidateStatus
from tidemill.lab.demo import DemoOption, DemoTerms, Entry
from tidemill.lab.standins.gemini import GeminiStandin
from tidemill.lab.standins.nominatim import NominatimStandin
from tidemill.lab.standins.serper import SerperStandin
from tidemill.lab.standins.talk import StandinServer
from tidemill.operations.discovery import DiscoveryActions
from tidemill.verticals.events.gazetteer import town

MUNICIPALITIES = 12
SITES = 30
"""Sites that hold agendas of at least so many municipalities."""
GOOD_ENOUGH = 0.5
"""Confidence from which whoever reviews in the demo says yes."""
REVIEWER = "demo"


class DiscoveringSystem(Protocol):
    """A system that can search for agendas."""

    @property
    def discovery(self) -> DiscoveryActions:
        """What a person can do with candidates."""
        ...


class ReviewedCandidates(msgspec.Struct, frozen=True):
    """What became of the search: municipalities, paid questions, candidates, and those that were approved."""

    municipalities: int
    questions: int
    candidates: int
    approved: int


def without_faults(terms: DemoTerms) -> DemoTerms:
    """Have sites enough to find, and none in trouble unless faults are asked for."""
    counts = {**terms.counts, "sites": max(terms.counts["sites"], SITES)}
    return msgspec.structs.replace(terms, counts=counts, faults=terms.faults or "none")


def agendas_of(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """The lab's Dutch agendas by the name of their municipality, for the first few municipalities."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        place = town(entry["city"]) if entry["language"] == "nl" else None
        if place is not None and (place.name in found or len(found) < MUNICIPALITIES):
            found.setdefault(place.name, []).append(entry["targets"][0]["url"])
    return found


@asynccontextmanager
async def standins(entries: Sequence[Entry]) -> AsyncIterator[Mapping[str, Any]]:
    """Serve stand-ins that know the lab's agendas; answers the settings that point at them."""
    agendas = agendas_of(entries)
    towns = {entry["city"]: (entry["latitude"], entry["longitude"]) for entry in entries}
    search = SerperStandin(agendas, "demo")
    async with (
        StandinServer(search) as one,
        StandinServer(GeminiStandin(key="demo")) as two,
        StandinServer(NominatimStandin(towns)) as three,
    ):
        yield {
            "search_key": "demo",
            "search_url": one.origin,
            "llm_key": "demo",
            "llm_url": two.origin,
            "geocoder_url": three.origin,
            "geocoder_interval_seconds": 0.02,
            "discovery_interval_seconds": 0.2,
        }


async def discover_and_review(system: DiscoveringSystem, entries: Sequence[Entry]) -> ReviewedCandidates:
    """Search the municipalities, and approve what is good enough, as a person would."""
    places = list(agendas_of(entries))
    done, _ = await system.discovery.run(only=places)
    pending = await system.discovery.listed(status=CandidateStatus.PENDING, limit=500)
    good = [each for each in pending if each.confidence >= GOOD_ENOUGH]
    for each in good:
        await system.discovery.approve(each.id, REVIEWER, enable=True, note="good enough for a demo")
    return ReviewedCandidates(len(done.places), done.asked, len(pending), len(good))


async def bring_in(system: DiscoveringSystem, entries: Sequence[Entry]) -> str:
    """Find the lab's sites instead of being told of them; answers what was done."""
    found = await discover_and_review(system, entries)
    return (
        f"Searched {found.municipalities} municipalities with {found.questions} questions: {found.candidates} "
        f"candidates, of which {found.approved} were approved and switched on"
    )


DISCOVER = DemoOption(
    name="discover",
    help="Know no site; search 12 municipalities for agendas first.",
    conflicts={"homes": "--discover searches for agendas, and --homes has none: choose one"},
    change_terms=without_faults,
    serve_beside=standins,
    bring_in=bring_in,
)
