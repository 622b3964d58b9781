"""A stand-in for ScrapingBee: its HTML API with credits, concurrency and transparent status codes, and `/usage`."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

import msgspec

from tidemill.lab.standins.talk import Call, StandinFault, StandinReply, json_reply

PREMIUM, STEALTH = 10, 75
NOT_CHARGED = {"Spb-cost": "0"}


class SitePage(msgspec.Struct, frozen=True):
    """What a site answers to ScrapingBee; `url` is where its redirects ended."""

    status: int = 200
    body: bytes = b""
    url: str = ""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


Web = Callable[[str, Mapping[str, str]], Awaitable[SitePage]]
"""How the stand-in gets a page: an address and the headers that were forwarded."""


class ScrapingBee:
    """Answers as app.scrapingbee.com does. `fault` can be set at any time; `asked` holds every page asked for."""

    def __init__(self, web: Web, key: str = "bee-key", *, credits_left: int = 1_000) -> None:
        """Get pages from `web`, for whoever knows `key`."""
        self._web = web
        self._key = key
        self.max_credit = credits_left
        self.used_credit = 0
        self.fault = StandinFault.NONE
        self.asked: list[str] = []

    async def answer(self, call: Call, now: datetime) -> StandinReply:
        """Answer one call."""
        del now
        if (refusal := self._refusal(call)) is not None:
            return refusal
        if call.path.rstrip("/").endswith("/usage"):
            return self._usage()
        if not call.query.get("url"):
            return json_reply({"errors": [{"url": ["Missing data for required field."]}]}, 400)
        return await self._page(call)

    def _refusal(self, call: Call) -> StandinReply | None:
        if self.fault in FAULTS:
            return FAULTS[self.fault]
        given = call.query.get("api_key", "")
        if given != self._key or self.fault is StandinFault.BAD_KEY:
            return json_reply({"message": f"Invalid api key: {given}"}, 401)
        return None

    def _usage(self) -> StandinReply:
        used = self.max_credit if self.fault is StandinFault.OUT_OF_QUOTA else self.used_credit
        told = {"max_api_credit": self.max_credit, "used_api_credit": used, "max_concurrency": 5}
        return json_reply({**told, "current_concurrency": 0, "renewal_subscription_date": "2030-01-01T00:00:00"})

    async def _page(self, call: Call) -> StandinReply:
        price = cost(call.query)
        if self.fault is StandinFault.OUT_OF_QUOTA or self.used_credit + price > self.max_credit:
            return json_reply({"message": f"Monthly API calls limit reached: {self.max_credit}"}, 401)
        if self.fault is StandinFault.RATE_LIMITED:
            return json_reply({"message": "Max concurrency allowed 5"}, 429, NOT_CHARGED)
        url = call.query["url"]
        self.asked.append(url)
        forwarded = {name[4:]: value for name, value in call.headers.items() if name.startswith("spb-")}
        page = await self._web(url, forwarded if call.query.get("forward_headers") == "true" else {})
        if call.query.get("transparent_status_code") != "true" and page.status >= 500:  # noqa: PLR2004 - HTTP's own
            return json_reply({"error": "Server responded with 500"}, 500, NOT_CHARGED)
        self.used_credit += price
        return StandinReply(page.status, page.body, _headers(page, url, price))


def _headers(page: SitePage, url: str, price: int) -> dict[str, str]:
    """The site's own headers under its prefix, and its word on price and address."""
    told = {f"Spb-{name}": value for name, value in page.headers.items()}
    kind = page.headers.get("content-type", "text/html; charset=utf-8")
    own = {"Spb-cost": str(price), "Spb-initial-status-code": str(page.status), "Spb-resolved-url": page.url or url}
    return {"Content-Type": kind, **told, **own}


def cost(query: Mapping[str, str]) -> int:
    """Credits for a call: JavaScript is rendered unless it says otherwise, and better proxies cost more."""
    renders = query.get("render_js", "true") == "true"
    if query.get("stealth_proxy") == "true":
        return STEALTH
    if query.get("premium_proxy") == "true":
        return 25 if renders else PREMIUM
    return 5 if renders else 1


FAULTS = {
    StandinFault.DOWN: StandinReply(is_down=True),
    StandinFault.HANGS: StandinReply(hangs=True),
    StandinFault.BROKEN: StandinReply(
        503, b"<html><title>503 Service Unavailable</title></html>", {"content-type": "text/html"}
    ),
    StandinFault.GARBAGE: StandinReply(
        200, b"\x00\xff not what you asked for", {"content-type": "application/octet-stream"}
    ),
}
"""What is answered to everyone while a fault lasts."""
