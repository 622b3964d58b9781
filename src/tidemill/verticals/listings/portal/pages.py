"""The list of homes as cards, and the page of one home."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Query
from pydantic import BeforeValidator
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.api.listings import circle, cursor_from, in_order, not_found
from tidemill.verticals.listings.portal.markets import add_market_pages
from tidemill.verticals.listings.store.views import ListingViews, cursor_of, money
from tidemill.verticals.listings.views import ListingDetail, ListingFilter, ListingView
from tidemill.web.api.parameters import Cursor, Key, Text, Word
from tidemill.web.auth.gate import ActorName
from tidemill.web.charts.place_map import MapPoint, place_map
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.form_fields import none_if_empty

HOMES_PER_PAGE = 24
SEE_OTHER = 303
BADGE_COLOURS = {"green": "good", "yellow": "warn", "orange": "orange"}
"""The style of each badge."""

Whole = Annotated[int | None, BeforeValidator(none_if_empty), Query(ge=0, le=10_000_000)]
Rooms = Annotated[float | None, BeforeValidator(none_if_empty), Query(ge=0, le=20)]
Latitude = Annotated[float | None, BeforeValidator(none_if_empty), Query(ge=-90, le=90)]
Longitude = Annotated[float | None, BeforeValidator(none_if_empty), Query(ge=-180, le=180)]
Kilometres = Annotated[float | None, BeforeValidator(none_if_empty), Query(gt=0, le=500)]
Sure = Annotated[int, Query(ge=0, le=100)]


class HomeField(msgspec.Struct, frozen=True):
    """A field of a home as its page shows it, and whose word it is."""

    name: str
    value: str
    said_by: str


def router(deps: WebDeps, listings: ListingViews, markets: MarketActions, render: RenderPage) -> APIRouter:
    """Return the routes of the pages of homes and markets."""
    router = APIRouter()

    @router.get("/homes")
    async def homes(  # noqa: PLR0917 - one parameter per criterion; the framework passes them by name
        market: Word = None, text: Text = None, rent_from: Whole = None, rent_to: Whole = None,
        beds_from: Rooms = None, beds_to: Rooms = None, latitude: Latitude = None, longitude: Longitude = None,
        radius_km: Kilometres = None, order: Word = None, confidence: Sure = 40, cursor: Cursor = None,
    ) -> Response:  # fmt: skip
        in_order("rent_from", rent_from, "rent_to", rent_to)
        in_order("beds_from", beds_from, "beds_to", beds_to)
        asked = {
            "market": market, "text": text, "rent_from": rent_from, "rent_to": rent_to, "beds_from": beds_from,
            "beds_to": beds_to, "latitude": latitude, "longitude": longitude, "radius_km": radius_km,
            "order": "rent" if order == "rent" else None, "confidence": None if confidence == 40 else confidence,  # noqa: PLR2004 - the usual one stays out of addresses
        }  # fmt: skip
        which = ListingFilter(
            market=market or None, text=text or None, rent_from=_cents(rent_from), rent_to=_cents(rent_to),
            beds_from=beds_from, beds_to=beds_to, near=circle(latitude, longitude, radius_km),
            least_confidence=confidence, order="rent" if order == "rent" else "newest",
        )  # fmt: skip
        now = deps.clock.now()
        found = await listings.search(which, now, after=cursor_from(cursor), limit=HOMES_PER_PAGE + 1)
        shown = found[:HOMES_PER_PAGE]
        query = {name: value for name, value in asked.items() if value not in {None, ""}}
        more = len(found) > HOMES_PER_PAGE
        return render(
            "listings/homes.html", homes=shown, asked=asked, first=cursor is None, markets=await markets.every(),
            query=urlencode(query), map=place_map(_points(shown), "Homes"), filtered=bool(query),
            following="/homes?" + urlencode({**query, "cursor": cursor_of(shown[-1], which.order).text})
            if more else None,
        )  # fmt: skip

    @router.get("/homes/{listing_id}")
    async def home(listing_id: Key, done: Word = None) -> Response:
        detail = await listings.one(listing_id, deps.clock.now())
        if detail is None:
            raise not_found(listing_id)
        await listings.note_interest(listing_id, saved=False)
        return render(
            "listings/home.html", detail=detail, home=detail.view, fields=fields_of(detail),
            map=place_map(_points([detail.view]), "This home"), why=await deps.why(f"listing:{listing_id}"),
            done=(done or "")[:200],
        )  # fmt: skip

    @router.post("/homes/{listing_id}/save")
    async def save(listing_id: Key, request: Request, by: ActorName) -> Response:  # noqa: ARG001 - the gate asks who
        if await listings.one(listing_id, deps.clock.now()) is None:
            raise not_found(listing_id)
        await listings.note_interest(listing_id, saved=True)
        words = urlencode({"done": "Saved: it is checked before homes that nobody wants."})
        return RedirectResponse(f"/homes/{listing_id}?{words}", SEE_OTHER)

    add_market_pages(router, deps, listings, markets, render)
    return router


def _cents(whole: int | None) -> int | None:
    return None if whole is None else whole * 100


def _points(homes: Sequence[ListingView]) -> list[MapPoint]:
    return [
        MapPoint(home.latitude, home.longitude, f"{home.title}, {rent_words(home)}", f"/homes/{home.id}")
        for home in homes
        if home.latitude is not None and home.longitude is not None
    ]


def rent_words(home: ListingView) -> str:
    """Return a home's rent as readers see it: `$2,250`, `$2,250 to $2,600`, or that it is not told."""
    if home.rent_low is None:
        return "rent not told"
    low = money(home.rent_low, home.currency)
    if home.rent_high is None or home.rent_high == home.rent_low:
        return low
    return f"{low} to {money(home.rent_high, home.currency)}"


def place_words(home: ListingView) -> str:
    """Return a home's address with its city, which many addresses hold already."""
    address = str(home.listing.get("address") or "")
    city = f"{home.city} {home.state}"
    return address if home.city and home.city.lower() in address.lower() else ", ".join(filter(None, (address, city)))


def room_words(home: ListingView) -> str:
    """Return beds, baths and size in a line, as far as they are told."""
    told = home.listing
    parts = [
        _range(told.get("beds_low"), told.get("beds_high"), "bed", zero="studio"),
        _range(told.get("baths_low"), told.get("baths_high"), "bath"),
        _range(told.get("size_low"), told.get("size_high"), "sq ft", plural="sq ft"),
    ]
    return " · ".join(each for each in parts if each)


def _range(low: Any, high: Any, unit: str, *, plural: str = "", zero: str = "") -> str:
    if not isinstance(low, int | float):
        return ""
    if low == 0 and zero and high in {None, 0}:
        return zero
    words = f"{low:,g}" if high in {None, low} else f"{low:,g} to {high:,g}"
    return f"{words} {unit if words == '1' else plural or unit + 's'}"


def badge_colour(colour: str) -> str:
    """Return the style of a badge."""
    return BADGE_COLOURS.get(colour, "plain")


def fields_of(detail: ListingDetail) -> list[HomeField]:
    """Return every field that is told of a home, each with whose word it is."""
    names = {shown.source_id: shown.source_name for shown in detail.shown_by}
    usual = detail.provenance.get("")
    fields: Mapping[str, Any] = detail.view.listing
    return [
        HomeField(name, _written(value), names.get(detail.provenance.get(name, usual) or 0, ""))
        for name, value in fields.items()
        if value not in (None, "", [], {}) and name not in {"source_id", "source_name"}
    ]


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    return str(value)
