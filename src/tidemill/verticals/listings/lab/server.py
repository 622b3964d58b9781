"""The housing market on real sockets: sites and the actor's platform on loopback, days that pass in seconds."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta

from tidemill.lab.demo import ServedSites
from tidemill.lab.loopback import ONLY_ADDRESS, NoPortError, addresses, listening_sockets
from tidemill.lab.standins.talk import Call, StandinReply, StandinServer
from tidemill.lab.wall import wall_time
from tidemill.verticals.listings.lab.sites import APIFY, TOKEN, HomesSites, entries
from tidemill.verticals.listings.lab.world import SITES, HomesWorld, timetable

WEEKS = timedelta(days=14)
"""What passes in the world while its timetable lasts."""
PACE_SECONDS = 0.2


class FastClock:
    """A clock on which `passes` of the world go by in `lasts` of real time."""

    def __init__(self, lasts: timedelta, passes: timedelta, wall: Callable[[], datetime] = wall_time) -> None:
        """Begin now."""
        self.began = wall()
        self._speed = passes / lasts
        self._wall = wall

    def now(self) -> datetime:
        """The moment in the world."""
        return self.began + (self._wall() - self.began) * self._speed


class MarketHost:
    """One host of the market, as a server asks it; its pages name hosts by where they really are."""

    def __init__(self, host: str, sites: HomesSites, origins: Mapping[str, str]) -> None:
        """`origins` is filled in as servers come up."""
        self._host = host
        self._sites = sites
        self._origins = origins

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Answer one call; the world has its own time, so `now` is of no interest."""
        del now
        if self._sites.is_down(self._host):
            return StandinReply(hangs=True)
        reply = await self._sites.answer(self._host, call)
        body = reply.body
        for host, origin in self._origins.items():
            body = body.replace(f"https://{host}".encode(), origin.encode())
        return StandinReply(reply.status, body, reply.headers)


@asynccontextmanager
async def homes_served(seed: int, lasts: timedelta, *, faults: bool) -> AsyncIterator[ServedSites]:
    """Serve two weeks of a housing market within `lasts`, every site on its own address where there are several."""
    clock = FastClock(lasts, WEEKS)
    world = HomesWorld(seed, clock.began, WEEKS / timedelta(days=1))
    sites = HomesSites(world, clock.now, timetable(world) if faults else ())
    origins: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        for host, address in zip((*SITES, APIFY), places(len(SITES) + 1), strict=True):
            server = StandinServer(MarketHost(host, sites, origins), address=address)
            origins[host] = (await stack.enter_async_context(server)).origin
        yield ServedSites(
            entries(origins, interval_seconds=PACE_SECONDS), {"apify_token": TOKEN, "apify_url": origins[APIFY]}
        )


def places(count: int) -> list[str]:
    """So many addresses to serve at: the same for all on systems that have only one loopback address."""
    try:
        for listener in listening_sockets(addresses(count)):
            listener.close()
    except NoPortError:
        return [ONLY_ADDRESS] * count
    return addresses(count)
