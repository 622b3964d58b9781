"""The lab's world: groups of sites that verticals bring, and the faults that befall them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, Self, TypeVar

import msgspec

from tidemill.lab.faults import Fault, Outage, Timetable, timetable
from tidemill.lab.messages import REFUSED, LabRequest, LabResponse, text

EPOCH = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)
DAILY = "0 6 * * *"
"""The schedule of a source that is looked at once a day."""

Group = TypeVar("Group")


class RobotsTerms(msgspec.Struct, frozen=True):
    """What a host's robots.txt asks for: seconds between requests, and the path that a robots change closes."""

    crawl_delay: int
    closed_path: str


class SiteGroup(Protocol):
    """The sites that one vertical brings to a world: each a host whose answers follow from the moment."""

    @property
    def origins(self) -> Mapping[str, str]:
        """Every host with the address that it stands at."""
        ...

    @property
    def faulty_hosts(self) -> Sequence[str]:
        """The hosts that a drawn timetable gives its faults to."""
        ...

    def robots(self, host: str) -> RobotsTerms:
        """What the host's robots.txt asks for."""
        ...

    def respond(self, request: LabRequest, faults: tuple[Fault, ...], moment: datetime) -> LabResponse:
        """Answer a request to one of its hosts, which can be connected to."""
        ...

    def sources(self, pace: Mapping[str, float], schedule: str | None) -> list[dict[str, Any]]:
        """Return its sites as a sources file names them; without a schedule, on the one that suits them."""
        ...

    def moved_to(self, origins: Mapping[str, str]) -> Self:
        """Return the same sites at other addresses (host to origin, for at least its own hosts)."""
        ...


class WorldTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What every group of a world is drawn by.

    `opening` makes the first moments after `start` busy. Without `boilerplate` pages carry only their content, and
    without `compression` they come as they are: both save work when nobody looks at the pages.
    """

    seed: int = 7
    start: datetime = EPOCH
    opening: timedelta = timedelta(0)
    boilerplate: bool = True
    compression: bool = True


BuildGroup = Callable[[int, WorldTerms], SiteGroup]
"""Draws so many sites of one kind."""


class World:
    """A pure function of seed, host, path and moment; what its groups remember only saves work."""

    def __init__(self, terms: WorldTerms, groups: Sequence[SiteGroup], faults: Timetable | None = None) -> None:
        """Put the groups together, with no faults unless there is a timetable."""
        self.terms = terms
        self.timetable = faults or Timetable()
        self._groups = tuple(groups)
        self._by_host = {host: group for group in self._groups for host in group.origins}

    @property
    def seed(self) -> int:
        """What everything is drawn from."""
        return self.terms.seed

    @property
    def start(self) -> datetime:
        """Its first moment."""
        return self.terms.start

    @property
    def origins(self) -> Mapping[str, str]:
        """Every host with the address that it stands at."""
        return {host: origin for group in self._groups for host, origin in group.origins.items()}

    def group(self, kind: type[Group]) -> Group:
        """Return the world's group of this class."""
        return next(group for group in self._groups if isinstance(group, kind))

    def faults(self, host: str, moment: datetime) -> tuple[Fault, ...]:
        """Return what is wrong with the host at `moment`."""
        return self.timetable.at(host, moment)

    def robots(self, host: str) -> RobotsTerms:
        """Return what the host's robots.txt asks for."""
        return self._by_host[host].robots(host)

    def respond(self, request: LabRequest, moment: datetime) -> LabResponse:
        """Answer the request as its site does at `moment`."""
        group = self._by_host.get(request.host)
        if group is None:
            return text(421, "No such site here.")
        faults = self.faults(request.host, moment)
        if any(isinstance(fault, Outage) for fault in faults):
            return REFUSED
        return group.respond(request, faults, moment)

    def sources(
        self, *, interval_seconds: float = 2.0, burst: int = 1, parallel: int = 1, schedule: str | None = None
    ) -> list[dict[str, Any]]:
        """Return every site as a sources file names it."""
        pace = {"interval_seconds": interval_seconds, "burst": burst, "parallel": parallel}
        return [source for group in self._groups for source in group.sources(pace, schedule)]

    def moved_to(self, origins: Mapping[str, str]) -> "World":
        """Return the same world with its sites at other addresses, such as `http://127.0.0.11:8000`."""
        return World(self.terms, [group.moved_to(origins) for group in self._groups], self.timetable)


def build_world(
    terms: WorldTerms, groups: Sequence[SiteGroup], *, kinds: Sequence[str] = (), days: float = 30
) -> World:
    """Put groups together under a timetable of `days` with these kinds of faults (none unless asked for)."""
    hosts = [host for group in groups for host in group.faulty_hosts]
    return World(terms, groups, timetable(terms.seed, hosts, terms.start, days, kinds))
