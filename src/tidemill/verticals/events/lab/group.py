"""The agenda sites as a group of the lab's world."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from tidemill.lab.faults import Fault, Timetable
from tidemill.lab.messages import LabRequest, LabResponse
from tidemill.lab.world import DAILY, RobotsTerms, World, WorldTerms, build_world
from tidemill.verticals.events.lab.content import AgendaContent, PageState, TrueEvent
from tidemill.verticals.events.lab.makes import SELECTORS
from tidemill.verticals.events.lab.site import answer
from tidemill.verticals.events.lab.sites import Site, build_sites

USUAL = WorldTerms()


class AgendaSites:
    """Agenda sites, each with faults on the timetable."""

    def __init__(self, content: AgendaContent) -> None:
        """Show this content."""
        self.content = content

    @property
    def sites(self) -> Mapping[str, Site]:
        """The sites by host."""
        return self.content.sites

    @property
    def origins(self) -> Mapping[str, str]:
        """Every site with the address that it stands at."""
        return {host: site.origin for host, site in self.sites.items()}

    @property
    def faulty_hosts(self) -> Sequence[str]:
        """All of them get faults."""
        return list(self.sites)

    def robots(self, host: str) -> RobotsTerms:
        """What a site's robots.txt asks for."""
        site = self.sites[host]
        return RobotsTerms(site.crawl_delay, site.vocabulary.agenda)

    def respond(self, request: LabRequest, faults: tuple[Fault, ...], moment: datetime) -> LabResponse:
        """Answer a request to one of the sites."""
        return answer(self.content, request, faults, moment)

    def sources(self, pace: Mapping[str, float], schedule: str | None) -> list[dict[str, Any]]:
        """Return every site with its adapter, its terms and its agenda pages."""
        return [_source(site, pace, schedule or DAILY) for site in self.sites.values()]

    def moved_to(self, origins: Mapping[str, str]) -> "AgendaSites":
        """Return the same sites at other addresses."""
        return AgendaSites(self.content.moved_to(origins))


def build_agendas(count: int, terms: WorldTerms) -> AgendaSites:
    """Draw so many sites."""
    return AgendaSites(AgendaContent(build_sites(terms.seed, count), terms))


def world_of(sites: Iterable[Site], faults: Timetable | None = None, terms: WorldTerms = USUAL) -> World:
    """A world of these agenda sites alone."""
    return World(terms, [AgendaSites(AgendaContent(sites, terms))], faults)


def agenda_world(count: int, terms: WorldTerms = USUAL, *, kinds: Sequence[str] = (), days: float = 30) -> World:
    """A world of so many agenda sites, with these kinds of faults on its timetable."""
    return build_world(terms, [build_agendas(count, terms)], kinds=kinds, days=days)


def agenda_sites(world: World) -> Mapping[str, Site]:
    """The world's agenda sites by host."""
    return world.group(AgendaSites).sites


def true_events(world: World, host: str, moment: datetime) -> tuple[TrueEvent, ...]:
    """Return the events really on a site at `moment`, whatever it manages to show of them."""
    return world.group(AgendaSites).content.truth(host, moment, world.faults(host, moment))


def page_state(world: World, site: Site, path: str, moment: datetime) -> PageState:
    """Return what a site's agenda page at `path` should list at `moment`."""
    return world.group(AgendaSites).content.page_state(site, path, moment, world.faults(site.host, moment))


def _source(site: Site, pace: Mapping[str, float], schedule: str) -> dict[str, Any]:
    selectors = SELECTORS.get(site.make)
    return {
        "name": site.host.removesuffix(".test"),
        "vertical": "events",
        "base_url": site.origin,
        "adapter": "events.selectors" if selectors else "events.generic",
        "language": site.language,
        "time_zone": site.time_zone,
        "city": site.city,
        "latitude": site.latitude,
        "longitude": site.longitude,
        "tier": site.tier,
        "pace": dict(pace),
        "settings": {"selectors": dict(selectors)} if selectors else {},
        "targets": [{"url": site.origin + path, "schedule": schedule} for path in site.paths],
    }
