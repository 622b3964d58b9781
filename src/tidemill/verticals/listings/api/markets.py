"""Markets under `/api/admin/markets`: look, add, change, scrape now."""

from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.responses import Response

from tidemill.operations.runs import Started
from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.market import OUTSIDE_NAMES, Market
from tidemill.web.api.parameters import Name
from tidemill.web.auth.gate import ActorName
from tidemill.web.responses import Listed, error_response, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody

LONGEST = 200
LONGEST_CODE = 3


class NewMarket(RequestBody):
    """A market as somebody sends it; what is wrong with it is said in words, field by field."""

    model_config = ConfigDict(strict=True)

    id: str = Field(max_length=LONGEST)
    display_name: str = Field(max_length=LONGEST)
    city: str = Field(max_length=LONGEST)
    state: str = Field("", max_length=LONGEST, description="Two letters in the US; elsewhere a region, or nothing.")
    country: str = Field("US", max_length=LONGEST)
    currency: str = Field("USD", max_length=LONGEST)
    area: list[str] = Field(default_factory=list, description="Towns and beginnings of postal codes that belong to it.")
    tier: str = Field("standard", max_length=LONGEST)
    is_enabled: bool = True
    max_listings_per_scrape: int = 100
    scrape_frequency_hours: int | None = None


class MarketChange(RequestBody):
    """What is to change; what is not named stays."""

    model_config = ConfigDict(strict=True)

    display_name: str | None = Field(None, max_length=LONGEST)
    city: str | None = Field(None, max_length=LONGEST)
    state: str | None = Field(None, max_length=LONGEST)
    country: str | None = Field(None, max_length=LONGEST)
    currency: str | None = Field(None, max_length=LONGEST)
    area: list[str] | None = None
    tier: str | None = Field(None, max_length=LONGEST)
    is_enabled: bool | None = None
    max_listings_per_scrape: int | None = None
    scrape_frequency_hours: int | None = None


_NAMES = {outside: inside for inside, outside in OUTSIDE_NAMES.items()}
_MAY_BE_NONE = frozenset({"scrape_frequency_hours"})


def router(markets: MarketActions) -> APIRouter:
    """Return the routes of markets."""
    router = APIRouter(prefix="/api/admin/markets", tags=["markets"])

    @router.get("", responses=json_responses(Listed[Market], 503))
    async def every() -> Response:
        """List all markets, the hot ones first, with when each was scraped and how that went."""
        return json_response(Listed(await markets.every()))

    @router.get("/{market_id}", responses=json_responses(Market, 404, 422, 503))
    async def one(market_id: Name) -> Response:
        """Show a market."""
        return json_response(await markets.find(market_id))

    @router.post("", status_code=201, responses=json_responses(Market, 401, 403, 409, 422, 503))
    async def add(new: NewMarket, by: ActorName) -> Response:
        """Add a city: every source that covers markets covers it from now on."""
        fields = ours(new.model_dump())
        return json_response(await markets.add(Market(**fields), by), 201)

    @router.put("/{market_id}", responses=json_responses(Market, *CHANGE_ERRORS))
    async def change(market_id: Name, changes: MarketChange, by: ActorName) -> Response:
        """Change a market: its tier, how often, how many, or whether at all."""
        said = changes.model_dump(exclude_unset=True)
        fields = ours({name: value for name, value in said.items() if value is not None or name in _MAY_BE_NONE})
        return json_response(await markets.change(market_id, fields, by))

    @router.delete("/{market_id}", responses=json_responses(Market, *CHANGE_ERRORS))
    async def remove(market_id: Name, by: ActorName) -> Response:
        """Remove a market that no home belongs to; one with homes can only be switched off."""
        return json_response(await markets.remove(market_id, by))

    @router.post(
        "/{market_id}/scrape", status_code=202, responses=json_responses(Started, 401, 403, 404, 409, 422, 429, 503)
    )
    async def scrape(market_id: Name, by: ActorName) -> Response:
        """Scrape a market now, under the same limits as any other work."""
        started = await markets.scrape(market_id, by)
        if started.rejected and not started.jobs:
            return turned_away(started)
        return json_response(started, 202)

    return router


def ours(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields under the names that the core has for them; codes of two or three letters are the same in small ones."""
    for name in ("state", "country", "currency"):
        if isinstance(code := fields.get(name), str) and len(code) <= LONGEST_CODE:
            fields = {**fields, name: code.upper()}
    if fields.get("area") is not None:
        fields = {**fields, "area": tuple(fields["area"])}
    return {_NAMES.get(name, name): value for name, value in fields.items()}


def turned_away(started: Started) -> Response:
    """The queue is full: why, and when to come back."""
    seconds = round(started.retry_after_seconds or 0)
    response = error_response(
        429, str(started.reason), f"{started.rejected} jobs were turned away.", f"Try again in {seconds} seconds."
    )
    response.headers["Retry-After"] = str(seconds)
    return response
