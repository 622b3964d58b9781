"""The pages of markets: which cities are followed, how that goes, and everything that can be done about it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.operations.mistakes import Conflict, Mistake
from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.market import AREA_ENDS, HOME_COUNTRY, HOME_CURRENCY, TIERS, Market
from tidemill.verticals.listings.store.views import ListingViews
from tidemill.web.api.parameters import Name, Word
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage

SEE_OTHER = 303
FIELDS = ("display_name", "city", "state", "country", "currency", "area", "tier", "max_listings", "frequency_hours")
NOTHING_WRITTEN = dict.fromkeys(("id", *FIELDS), "")
NUMBERS = frozenset({"max_listings", "frequency_hours"})


MarketPage = Callable[..., Awaitable[Response]]
"""Renders the page of a market, with a status and words about what went wrong."""


def add_market_pages(
    router: APIRouter, deps: WebDeps, listings: ListingViews, markets: MarketActions, render: RenderPage
) -> None:
    """Add the list of markets, the page of one, and their forms."""

    async def list_page(status: int = 200, **shown: Any) -> Response:
        shares = {each.market_id: each for each in await listings.by_market(deps.clock.now())}
        values = {"wrong": "", "done": "", "written": NOTHING_WRITTEN, **shown}
        return render(
            "listings/markets.html", status, markets=await markets.every(), shares=shares, tiers=TIERS, **values
        )

    async def market_page(market_id: str, status: int = 200, **shown: Any) -> Response:
        market = await markets.find(market_id)
        shares = {each.market_id: each for each in await listings.by_market(deps.clock.now())}
        values = {"wrong": "", "done": "", "written": NOTHING_WRITTEN, **shown}
        return render(
            "listings/market.html", status, market=market, share=shares.get(market_id), tiers=TIERS,
            why=await deps.why(f"market:{market_id}"), homes_kept=await markets.homes_of(market_id), **values,
        )  # fmt: skip

    @router.get("/markets")
    async def every(done: Word = None) -> Response:
        return await list_page(done=(done or "")[:200])

    @router.post("/markets")
    async def add(request: Request, by: ActorName) -> Response:
        written = await _written(request, ("id", *FIELDS))
        try:
            added = await markets.add(Market(**fields_of(written)), by)
        except (Mistake, Conflict) as error:
            return await list_page(422, wrong=str(error), written=written)
        return _back(market_path(added.id), f"{added.display_name} is followed from now on.")

    @router.get("/markets/{market_id}")
    async def one(market_id: Name, done: Word = None) -> Response:
        return await market_page(market_id, done=(done or "")[:200])

    _market_deeds(router, markets, market_page)


def _market_deeds(router: APIRouter, markets: MarketActions, market_page: MarketPage) -> None:
    @router.post("/markets/{market_id}/change")
    async def change(market_id: Name, request: Request, by: ActorName) -> Response:
        written = await _written(request, FIELDS)
        try:
            done = await markets.change(market_id, fields_of(written), by)
        except (Mistake, Conflict) as error:
            return await market_page(market_id, 422, wrong=str(error), written=written)
        return _back(market_path(market_id), f"{done.display_name} is changed.")

    @router.post("/markets/{market_id}/switch")
    async def switch(market_id: Name, request: Request, by: ActorName) -> Response:
        enabled = (await request.form()).get("to") == "on"
        done = await markets.change(market_id, {"enabled": enabled}, by)
        words = "is followed again" if enabled else "is left alone until it is switched on; its homes fade meanwhile"
        return _back(market_path(market_id), f"{done.display_name} {words}.")

    @router.post("/markets/{market_id}/scrape")
    async def scrape(market_id: Name, by: ActorName) -> Response:
        try:
            done = await markets.scrape(market_id, by)
        except (Mistake, Conflict) as error:
            return await market_page(market_id, 409, wrong=str(error))
        if done.rejected and not done.jobs:
            return await market_page(market_id, 429, wrong=f"Turned away: {done.reason}. Try again in a moment.")
        words = f"{done.jobs} pages are being scraped." if done.jobs else "; ".join(done.notes)
        return _back(market_path(market_id), words)

    @router.post("/markets/{market_id}/remove")
    async def remove(market_id: Name, by: ActorName) -> Response:
        try:
            done = await markets.remove(market_id, by)
        except (Mistake, Conflict) as error:
            return await market_page(market_id, 409, wrong=str(error))
        return _back("/markets", f"{done.display_name} is removed. The audit log holds what it was.")


async def _written(request: Request, names: tuple[str, ...]) -> dict[str, str]:
    form = await request.form()
    return {name: str(form.get(name, "")).strip()[:2_000] for name in names}


def fields_of(written: Mapping[str, str]) -> dict[str, Any]:
    """Return a market's fields from what a person wrote; raise `Mistake` for a number that is none."""
    fields: dict[str, Any] = {**written}
    for name in NUMBERS & fields.keys():
        fields[name] = _number(name, written[name])
    if fields.get("max_listings") is None:
        fields.pop("max_listings", None)
    fields["area"] = tuple(part.strip() for part in str(fields.get("area", "")).split(AREA_ENDS) if part.strip())
    for name, usual in (("country", HOME_COUNTRY), ("currency", HOME_CURRENCY)):
        fields[name] = str(fields.get(name, "")).upper() or usual
    if fields["country"] == HOME_COUNTRY:
        fields["state"] = str(fields.get("state", "")).upper()
    return fields


def _number(name: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004 - what 32 bits hold
        msg = f"{name}: {text[:20]!r} is no whole number"
        raise Mistake(msg)
    return int(text)


def market_path(market_id: str) -> str:
    """Return the path of a market's page."""
    return f"/markets/{quote(market_id, safe='')}"


def _back(path: str, done: str) -> Response:
    return RedirectResponse(f"{path}?{urlencode({'done': done[:200]})}", SEE_OTHER)
