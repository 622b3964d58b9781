"""Homes for rent under `/api/v1/listings`: search, one home, GeoJSON."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from tidemill.core.views.records import BadCursor
from tidemill.verticals.listings.store.past import PastListings
from tidemill.verticals.listings.store.views import ListingViews, cursor_of
from tidemill.verticals.listings.views import ListingCursor, ListingDetail, ListingFilter, ListingView
from tidemill.web.api.parameters import AsOf, Cursor, Key, Limit, Text, Word, past_moment
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import BadParameter, Listed, ResourceNotFound, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses

Dollars = Annotated[int | None, Query(ge=0, le=10_000_000, description="A monthly rent, in whole units of currency.")]
Rooms = Annotated[float | None, Query(ge=0, le=20)]
Latitude = Annotated[float | None, Query(ge=-90, le=90)]
Longitude = Annotated[float | None, Query(ge=-180, le=180)]
Kilometres = Annotated[float | None, Query(gt=0, le=500, description="How far from there.")]
Sure = Annotated[int, Query(ge=0, le=100, description="The least confidence; 40 by default, as readers see it.")]
Order = Annotated[
    Literal["newest", "rent"], Query(description="The newest first, or the cheapest of those that name a rent.")
]


async def filter_from_query(  # noqa: PLR0917 - one parameter per criterion; the framework passes them by name
    market: Word = None,
    city: Word = None,
    text: Text = None,
    rent_from: Dollars = None,
    rent_to: Dollars = None,
    beds_from: Rooms = None,
    beds_to: Rooms = None,
    latitude: Latitude = None,
    longitude: Longitude = None,
    radius_km: Kilometres = None,
    confidence: Sure = 40,
    order: Order = "newest",
) -> ListingFilter:
    """Return the filter that the parameters of a request mean."""
    in_order("rent_from", rent_from, "rent_to", rent_to)
    in_order("beds_from", beds_from, "beds_to", beds_to)
    return ListingFilter(
        market=market or None,
        city=city or None,
        text=text or None,
        rent_from=None if rent_from is None else rent_from * 100,
        rent_to=None if rent_to is None else rent_to * 100,
        beds_from=beds_from,
        beds_to=beds_to,
        near=circle(latitude, longitude, radius_km),
        least_confidence=confidence,
        order=order,
    )


Wanted = Annotated[ListingFilter, Depends(filter_from_query)]


def router(deps: WebDeps, listings: ListingViews, past: PastListings) -> APIRouter:
    """Return the routes of listings."""
    router = APIRouter(prefix="/api/v1/listings", tags=["listings"])

    async def found(
        wanted: ListingFilter, cursor: str | None, limit: int, as_of: datetime | None = None
    ) -> Listed[ListingView]:
        now = deps.clock.now()
        then = past_moment(as_of, now)
        place = cursor_from(cursor)
        if then is None:
            homes = await listings.search(wanted, now, after=place, limit=limit + 1)
        else:
            homes = await past.search(wanted, then, after=place, limit=limit + 1)
        return list_page(homes, limit, lambda last: cursor_of(last, wanted.order).text)

    @router.get("", responses=json_responses(Listed[ListingView], 422, 503))
    async def search(wanted: Wanted, cursor: Cursor = None, limit: Limit = 50, as_of: AsOf = None) -> Response:
        """Search homes that are active and fresh enough, each with its badge and what its rent was."""
        return json_response(await found(wanted, cursor, limit, as_of))

    @router.get("/geojson", responses=json_responses(dict[str, Any], 422, 503))
    async def geojson(wanted: Wanted, cursor: Cursor = None, limit: Limit = 500) -> Response:
        """The same homes as a map takes them; those without coordinates are left out."""
        homes = await found(wanted, cursor, limit)
        features = [feature(home) for home in homes.items if home.latitude is not None]
        return json_response({"type": "FeatureCollection", "features": features, "next": homes.next})

    @router.get("/{listing_id}", responses=json_responses(ListingDetail, 404, 422, 503))
    async def one(listing_id: Key) -> Response:
        """Show a home with who shows it and what became of it; looking at it has it checked sooner."""
        detail = await listings.one(listing_id, deps.clock.now())
        if detail is None:
            raise not_found(listing_id)
        await listings.note_interest(listing_id, saved=False)
        return json_response(detail)

    @router.post("/{listing_id}/saves", status_code=202, responses=json_responses(dict[str, Any], *CHANGE_ERRORS))
    async def save(listing_id: Key, by: ActorName) -> Response:
        """Note that a reader saved a home: it is checked before those that nobody wants."""
        if await listings.one(listing_id, deps.clock.now()) is None:
            raise not_found(listing_id)
        await listings.note_interest(listing_id, saved=True)
        return json_response({"listing": listing_id, "saved_by": by}, 202)

    return router


def not_found(listing_id: int) -> ResourceNotFound:
    """Return the error that there is no such home."""
    return ResourceNotFound(f"There is no listing {listing_id}.", "Search for it under /api/v1/listings.")


def in_order(first: str, low: float | None, last: str, high: float | None) -> None:
    """A range has to begin before it ends: an empty answer would look like an empty market."""
    if low is not None and high is not None and low > high:
        msg = f"{first} is above {last}: swap them"
        raise BadParameter(msg)


def circle(
    latitude: float | None, longitude: float | None, kilometres: float | None
) -> tuple[float, float, float] | None:
    """A circle out of its three parts; all of them or none."""
    given = [value is not None for value in (latitude, longitude, kilometres)]
    if not any(given):
        return None
    if latitude is None or longitude is None or kilometres is None:
        msg = "a circle takes latitude, longitude and radius_km together"
        raise BadParameter(msg)
    return latitude, longitude, kilometres


def cursor_from(text: str | None) -> ListingCursor | None:
    """Where to go on in the list."""
    try:
        return None if text is None else ListingCursor.parse(text)
    except BadCursor as error:
        raise BadParameter(str(error)) from error


def feature(home: ListingView) -> dict[str, Any]:
    """A home as GeoJSON has it: longitude first."""
    return {
        "type": "Feature",
        "id": home.id,
        "geometry": {"type": "Point", "coordinates": [home.longitude, home.latitude]},
        "properties": {
            "title": home.title,
            "url": home.url,
            "rent_low": home.rent_low,
            "currency": home.currency,
            "freshness_confidence": home.freshness_confidence,
            "badge": None if home.badge is None else home.badge.text,
            "market": home.market_id,
        },
    }
