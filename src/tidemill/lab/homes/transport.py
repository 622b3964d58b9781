"""The housing market without sockets: sites, their robots.txt and the actor's platform, at the clock's moment."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tidemill.core.failure import Failure
from tidemill.lab.homes.pages import detail_page, item_of, search_page
from tidemill.lab.homes.world import (
    ACTOR,
    BLOCKED,
    CAPTCHA,
    DOORS_SHUT,
    DOWN,
    SITES,
    TRUNCATED,
    HomesWorld,
    Trouble,
)
from tidemill.lab.standins.apify import Apify
from tidemill.lab.standins.talk import Call
from tidemill.pipeline.ports import Clock, WireFailure, WireRequest, WireResponse

APIFY = "api.apify.test"
ACTOR_NAME = "lab~homes"
TOKEN = "apify-token"  # noqa: S105 - the lab's own, it opens nothing
_TAKES = timedelta(milliseconds=150)
_CAPTCHA_PAGE = "<html><body><h1>Are you a human?</h1><div class='g-recaptcha'></div></body></html>"

Answer = tuple[int, str]


class HomesTransport:
    """Sends requests to the world instead of to the web; `visits` counts what reached whom."""

    def __init__(self, world: HomesWorld, clock: Clock, troubles: Sequence[Trouble] = ()) -> None:
        """Ask `world`, in the time of `clock`, with these faults."""
        self._world = world
        self._clock = clock
        self._troubles = troubles
        self._apify = Apify({ACTOR_NAME: self._act}, TOKEN, takes=timedelta(seconds=20))
        self.visits: dict[str, int] = {}
        self.met: dict[str, int] = {}

    async def send(self, request: WireRequest, depart: Callable[[], Awaitable[None]]) -> WireResponse | WireFailure:
        """Send one request and answer with what came."""
        parts = urlsplit(request.url)
        host = parts.netloc
        await depart()
        now = self._clock.now()
        if self._meets(DOWN, host, "", now):
            await self._clock.sleep_until(now + request.timeout)
            return WireFailure(failure=Failure.TIMED_OUT, detail="no answer came in time")
        self.visits[host] = self.visits.get(host, 0) + 1
        await self._clock.sleep_until(now + _TAKES)
        if host == APIFY:
            return await self._ask_apify(request, now)
        if host not in SITES:
            return WireFailure(failure=Failure.DNS_FAILED, detail=f"the lab has no site at {host}")
        status, body = self._answer(host, parts.path, dict(parse_qsl(parts.query)), now)
        return WireResponse(
            status_code=status, headers={"content-type": "text/html; charset=utf-8"}, body=body.encode()
        )

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _answer(self, site: str, path: str, query: Mapping[str, str], now: datetime) -> Answer:
        if path == "/robots.txt":
            return 200, "User-agent: *\nAllow: /\n"
        if path.startswith("/home/"):
            if self._meets(DOORS_SHUT, site, "", now):
                return 403, "<html><body>Forbidden</body></html>"
            home = self._world.by_number.get(int(path.removeprefix("/home/")))
            return detail_page(site, home, now) if home is not None else (404, "")
        return self._search(site, path.strip("/"), query, now)

    def _search(self, site: str, market: str, query: Mapping[str, str], now: datetime) -> Answer:
        if market not in self._world.by_market:
            return 404, "<html><body>No such city</body></html>"
        if self._meets(BLOCKED, site, market, now):
            return 403, "<html><body>Forbidden</body></html>"
        if self._meets(CAPTCHA, site, market, now):
            return 200, _CAPTCHA_PAGE
        homes = self._world.shown(site, market, now)
        if self._meets(TRUNCATED, site, market, now):
            homes = homes[:1]
        return 200, search_page(site, market, homes, int(query.get("page", "1")), now)

    def _act(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What the actor finds: at most as many as it is asked for."""
        now = self._clock.now()
        homes = self._world.shown(ACTOR, str(given.get("market")), now)
        return [item_of(home, now) for home in homes[: int(given.get("maxItems", 100))]]

    async def _ask_apify(self, request: WireRequest, now: datetime) -> WireResponse | WireFailure:
        parts = urlsplit(request.url)
        headers = {name.lower(): value for name, value in request.headers.items()}
        call = Call(request.method, parts.path, dict(parse_qsl(parts.query)), headers, request.content)
        reply = await self._apify.answer(call, now)
        told = {name.lower(): value for name, value in reply.headers.items()}
        return WireResponse(status_code=reply.status, headers=told, body=reply.body)

    def _meets(self, kind: str, site: str, market: str, now: datetime) -> bool:
        met = any(one.kind == kind and one.holds(site, market or one.market, now) for one in self._troubles)
        if met:
            self.met[kind] = self.met.get(kind, 0) + 1
        return met


def entries() -> list[dict[str, Any]]:
    """The three sources that show the homes, in the form of a sources file."""
    shared = {
        "vertical": "listings", "time_zone": "America/New_York", "language": "en",
        "pace": {"interval_seconds": 1, "burst": 1, "parallel": 1},
    }  # fmt: skip
    one, two, three = SITES
    return [
        shared | {"name": "homes-one", "base_url": f"https://{one}", "adapter": "listings.placards",
                  "settings": {"market_url": f"https://{one}/{{market}}/"}},
        shared | {"name": "homes-two", "base_url": f"https://{two}", "adapter": "listings.search",
                  "settings": {"market_url": f"https://{two}/{{market}}/"}},
        shared | {"name": "homes-three", "base_url": f"https://{three}", "adapter": "listings.dataset",
                  "fetcher": "apify",
                  "settings": {"market_url": f"https://{three}/{{market}}/",
                               "apify": {"actor": "lab/homes",
                                         "input": {"market": "{market}", "maxItems": "{max_listings}"}}}},
    ]  # fmt: skip
