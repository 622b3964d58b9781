"""What is on at the agenda sites at any moment."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

import msgspec

from tidemill.lab.faults import DstNight, EmptyList, Fault
from tidemill.lab.memo import Memo
from tidemill.lab.world import WorldTerms
from tidemill.verticals.events.lab.agenda import (
    LONGEST_LEAD,
    LONGEST_MOVE,
    AgendaEntry,
    Venue,
    Version,
    clock_change_entry,
    day_of,
    enlivened,
    entries_on,
)
from tidemill.verticals.events.lab.sites import Site


class TrueEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event that is really on a site: what a perfect reader would have found there.

    `url` is its own address and never changes; `page` is the path of the agenda page that lists it.
    """

    id: int
    host: str
    page: str
    url: str
    title: str
    starts: datetime
    place: str
    cancelled: bool


class ShownEntry(msgspec.Struct, frozen=True):
    """An entry with the number of the version that holds."""

    entry: AgendaEntry
    number: int

    @property
    def version(self) -> Version:
        """What the site says about the entry now."""
        return self.entry.versions[self.number]


class PageState(msgspec.Struct, frozen=True):
    """What an agenda page lists at a moment, in order of start, and when that last changed."""

    shown: tuple[ShownEntry, ...]
    changed_at: datetime
    today: date

    @property
    def key(self) -> tuple[tuple[int, int], ...]:
        """Equal for equal content."""
        return tuple((shown.entry.id, shown.number) for shown in self.shown)


class Window(msgspec.Struct, frozen=True):
    """Every entry that could be on a page on a certain day, or has just gone, and the moments at which any changes."""

    entries: tuple[AgendaEntry, ...]
    changes: tuple[datetime, ...]

    def last_change(self, moment: datetime, otherwise: datetime) -> datetime:
        """The last of the changes that has come by `moment`."""
        passed = bisect_right(self.changes, moment)
        return self.changes[passed - 1] if passed else otherwise


class AgendaContent:
    """What agenda sites show: a pure function of the seed, the host, the path, the moment and its faults.

    What it remembers only saves work.
    """

    def __init__(self, sites: Iterable[Site], terms: WorldTerms) -> None:
        """Take the sites; nothing is drawn before it is asked for."""
        self.sites: Mapping[str, Site] = {site.host: site for site in sites}
        self.terms = terms
        self.fragments: Memo[object, tuple[str, str]] = Memo(40_000)
        self.bodies: Memo[object, tuple[object, bytes]] = Memo(4_000)
        self._days: Memo[tuple[str, int], tuple[AgendaEntry, ...]] = Memo(100_000)
        self._windows: Memo[tuple[str, int], Mapping[str, Window]] = Memo(2_000)

    def moved_to(self, origins: Mapping[str, str]) -> "AgendaContent":
        """Return the same content with its sites at other addresses (host to origin)."""
        sites = [msgspec.structs.replace(site, origin=origins[host]) for host, site in self.sites.items()]
        return AgendaContent(sites, self.terms)

    def truth(self, host: str, moment: datetime, faults: tuple[Fault, ...] = ()) -> tuple[TrueEvent, ...]:
        """Return the events really on the site at `moment`, whatever it manages to show of them."""
        site = self.sites[host]
        states = (self.page_state(site, path, moment, faults) for path in site.paths)
        return tuple(_true_event(site, shown) for state in states for shown in state.shown)

    def page_state(self, site: Site, path: str, moment: datetime, faults: tuple[Fault, ...] = ()) -> PageState:
        """Return what the agenda page at `path` should list at `moment`."""
        today = moment.astimezone(ZoneInfo(site.time_zone)).date()
        window = self._window(site, today)[path]
        changed_at = window.last_change(moment, self.terms.start)
        if any(isinstance(fault, EmptyList) for fault in faults):
            return PageState((), changed_at, today)
        entries = window.entries
        if path == site.paths[0] and any(isinstance(fault, DstNight) for fault in faults):
            entries = (*entries, clock_change_entry(_venue(self.terms.seed, site), today))
        there = [
            ShownEntry(entry, entry.version_at(moment)) for entry in entries if entry.appears <= moment < entry.vanishes
        ]
        there.sort(key=lambda shown: (shown.version.starts, shown.entry.id))
        return PageState(tuple(there), changed_at, today)

    def entry(self, site: Site, entry_id: int) -> AgendaEntry | None:
        """The entry with this id, whether it is on the site now or not."""
        return next((entry for entry in self._on_day(site, day_of(entry_id)) if entry.id == entry_id), None)

    def _window(self, site: Site, today: date) -> Mapping[str, Window]:
        """The site's pages, each with the entries that matter today."""
        return self._windows.get((site.host, today.toordinal()), lambda: self._gathered(site, today))

    def _gathered(self, site: Site, today: date) -> Mapping[str, Window]:
        earliest = today.toordinal() - LONGEST_MOVE.days - 3
        latest = today.toordinal() + LONGEST_LEAD.days + 1
        entries = [
            entry for ordinal in range(earliest, latest + 1) for entry in self._on_day(site, date.fromordinal(ordinal))
        ]
        return {path: _window_of(path, entries) for path in site.paths}

    def _on_day(self, site: Site, day: date) -> tuple[AgendaEntry, ...]:
        return self._days.get((site.host, day.toordinal()), lambda: self._drawn(site, day))

    def _drawn(self, site: Site, day: date) -> tuple[AgendaEntry, ...]:
        venue = _venue(self.terms.seed, site)
        entries = entries_on(venue, day)
        if not self.terms.opening:
            return entries
        return tuple(enlivened(venue, entry, self.terms.start, self.terms.opening) for entry in entries)


def _window_of(path: str, entries: Iterable[AgendaEntry]) -> Window:
    here = tuple(entry for entry in entries if entry.page == path)
    return Window(here, tuple(sorted(change for entry in here for change in entry.changes)))


def _true_event(site: Site, shown: ShownEntry) -> TrueEvent:
    return TrueEvent(
        id=shown.entry.id,
        host=site.host,
        page=shown.entry.page,
        url=site.detail_url(shown.entry),
        title=shown.version.title,
        starts=shown.version.starts,
        place=shown.entry.place,
        cancelled=shown.version.cancelled,
    )


def _venue(seed: int, site: Site) -> Venue:
    return Venue(seed=seed, host=site.host, name=site.name, vocabulary=site.vocabulary, pages=site.pages)
