"""The housing market's sites, their robots.txt and the actor's platform: what each answers at a moment."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from tidemill.lab.standins.apify import Apify
from tidemill.lab.standins.talk import Call, StandinReply
from tidemill.verticals.listings.lab.pages import detail_page, item_of, search_page
from tidemill.verticals.listings.lab.world import (
    ACTOR,
    BLOCKED,
    CAPTCHA,
    DOORS_SHUT,
    DOWN,
    SITES,
    TRUNCATED,
    HomesWorld,
    MarketFault,
)

APIFY = "api.apify.test"
ACTOR_NAME = "lab~homes"
TOKEN = "apify-token"  # noqa: S105 - the lab's own, it opens nothing
_TAKES = timedelta(seconds=20)
_HTML = {"content-type": "text/html; charset=utf-8"}
_CAPTCHA_PAGE = "<html><body><h1>Are you a human?</h1><div class='g-recaptcha'></div></body></html>"
_FORBIDDEN = 403, "<html><body>Forbidden</body></html>"

Answer = tuple[int, str]


class HomesSites:
    """Answers for every host of the housing market; `met` counts the faults that somebody ran into."""

    def __init__(self, world: HomesWorld, now: Callable[[], datetime], troubles: Sequence[MarketFault] = ()) -> None:
        """Show `world` as it is at `now()`, with these faults."""
        self._world = world
        self._now = now
        self._troubles = troubles
        self._apify = Apify({ACTOR_NAME: self._act}, TOKEN, takes=_TAKES)
        self.met: dict[str, int] = {}

    def is_down(self, host: str) -> bool:
        """Whether nobody answers there now."""
        return self._meets(DOWN, host, "")

    async def answer(self, host: str, call: Call) -> StandinReply:
        """Answer one call to a host that is up."""
        if host == APIFY:
            return await self._apify.answer(call, self._now())
        status, body = self._page(host, call.path, call.query)
        return StandinReply(status, body.encode(), _HTML)

    def _page(self, site: str, path: str, query: Mapping[str, str]) -> Answer:
        if path == "/robots.txt":
            return 200, "User-agent: *\nAllow: /\n"
        if path.startswith("/home/"):
            return self._detail(site, path.removeprefix("/home/"))
        return self._search(site, path.strip("/"), query)

    def _detail(self, site: str, number: str) -> Answer:
        if self._meets(DOORS_SHUT, site, ""):
            return _FORBIDDEN
        home = self._world.by_number.get(int(number)) if number.isdecimal() else None
        return detail_page(site, home, self._now()) if home is not None else (404, "")

    def _search(self, site: str, market: str, query: Mapping[str, str]) -> Answer:
        if market not in self._world.by_market:
            return 404, "<html><body>No such city</body></html>"
        if self._meets(BLOCKED, site, market):
            return _FORBIDDEN
        if self._meets(CAPTCHA, site, market):
            return 200, _CAPTCHA_PAGE
        homes = self._world.shown(site, market, self._now())
        if self._meets(TRUNCATED, site, market):
            homes = homes[:1]
        page = query.get("page", "1")
        return 200, search_page(site, market, homes, int(page) if page.isdecimal() else 1, self._now())

    def _act(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What the actor finds: at most as many as it is asked for."""
        homes = self._world.shown(ACTOR, str(given.get("market")), self._now())
        return [item_of(home, self._now()) for home in homes[: int(given.get("maxItems", 100))]]

    def _meets(self, kind: str, site: str, market: str) -> bool:
        now = self._now()
        met = any(one.kind == kind and one.holds(site, market or one.market, now) for one in self._troubles)
        if met:
            self.met[kind] = self.met.get(kind, 0) + 1
        return met


def entries(origins: Mapping[str, str] | None = None, *, interval_seconds: float = 1) -> list[dict[str, Any]]:
    """The three sources that show the homes, in the form of a sources file; `origins` says where their sites are."""
    shared = {
        "vertical": "listings", "time_zone": "America/New_York", "language": "en",
        "pace": {"interval_seconds": interval_seconds, "burst": 1, "parallel": 1},
    }  # fmt: skip
    one, two, three = ((origins or {}).get(site, f"https://{site}") for site in SITES)
    return [
        shared | {"name": "homes-one", "base_url": one, "adapter": "listings.placards",
                  "settings": {"market_url": f"{one}/{{market}}/", "markets": "all"}},
        shared | {"name": "homes-two", "base_url": two, "adapter": "listings.search",
                  "settings": {"market_url": f"{two}/{{market}}/", "markets": "all"}},
        shared | {"name": "homes-three", "base_url": three, "adapter": "listings.dataset",
                  "fetcher": "apify",
                  "settings": {"market_url": f"{three}/{{market}}/", "markets": "all",
                               "apify": {"actor": "lab/homes",
                                         "input": {"market": "{market}", "maxItems": "{max_listings}"}}}},
    ]  # fmt: skip
