"""The demo's live matches: three sites on loopback, four matches at twenty times the speed, a site that is cut."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.lab.demo import DemoOption, DemoTerms, ServedSites
from tidemill.lab.faults import Outage, ScheduledFault, Timetable
from tidemill.lab.server import LabServer
from tidemill.lab.wall import wall_time
from tidemill.operations.mistakes import Mistake
from tidemill.verticals.matches.lab.scripted import scripted_matches
from tidemill.verticals.matches.lab.sites import BOARD, FEED, MatchSites, match_world
from tidemill.verticals.matches.lab.timeline import TrueMatch, dealt

SPEED = 20
SHOWN = ("twenty", "super-over", "retired", "concussion")
UNDER_WAY = timedelta(minutes=6)
"""How long the matches have been played when the demo begins: sites tell the last 24 balls, and starting takes time."""
PACE_SECONDS = 0.1


class MatchClock:
    """A clock on which matches are played faster than they are."""

    def __init__(self, speed: float = SPEED, wall: Callable[[], datetime] = wall_time) -> None:
        """Begin now."""
        self.began = wall()
        self._speed = speed
        self._wall = wall

    def now(self) -> datetime:
        """The moment in the matches."""
        return self.began + (self._wall() - self.began) * self._speed


@asynccontextmanager
async def matches_served(terms: DemoTerms) -> AsyncIterator[ServedSites]:
    """Serve three sites of matches while entered; the best of them is cut for a fifth of the time, and comes back."""
    faults = terms.faults or "all"
    if faults not in {"all", "none"}:
        msg = "the world of matches has its own faults: choose all or none"
        raise Mistake(msg)
    clock = MatchClock()
    matches = played_matches(terms.seed, clock.began - UNDER_WAY)
    cut = outage(clock.began, timedelta(seconds=terms.seconds) * SPEED) if faults == "all" else Timetable()
    async with LabServer(match_world(MatchSites(matches, cut)), now=clock.now) as server:
        yield ServedSites([without_browser(entry) for entry in server.world.sources(interval_seconds=PACE_SECONDS)])


def played_matches(seed: int, start: datetime) -> list[TrueMatch]:
    """Return the demo's four matches, begun at the same moment."""
    return [dealt(played, seed, start) for played in scripted_matches(seed) if played.id in SHOWN]


def outage(began: datetime, lasts: timedelta) -> Timetable:
    """Return the timetable on which the best site is cut and healed."""
    begins = began + lasts * 0.4
    return Timetable(
        [ScheduledFault(host=FEED, kind="outage", fault=Outage(), begins=begins, ends=begins + lasts * 0.2)]
    )


def without_browser(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a source that is asked at the JSON address that its page's script asks: no browser is needed."""
    if entry["name"] != BOARD.partition(".")[0] + "-scores":
        return entry
    lists = [{"url": f"{entry['base_url']}/api/list.json"}]
    return entry | {"adapter": "matches.feed", "settings": {"match_url": "/api/m/{id}.json"}, "targets": lists}


def at_speed(terms: DemoTerms) -> DemoTerms:
    """Leave the terms as they are: a minute shows twenty."""
    return msgspec.structs.replace(terms, interval=PACE_SECONDS)


MATCHES = DemoOption(
    name="matches",
    help="Live matches instead: three sites, four matches at twenty times the speed, a site that is cut.",
    change_terms=at_speed,
    serve=matches_served,
)
