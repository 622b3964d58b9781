"""Offers under `/api/v1/offers`: what shops ask now, and what one shop asked for one product."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from tidemill.verticals.prices.api.history import Reading, begins, cursor_text, price_cursor
from tidemill.verticals.prices.store.past import PastOffers
from tidemill.verticals.prices.store.views import PriceReads
from tidemill.verticals.prices.views import OfferFilter, OfferView, PricePoint
from tidemill.web.api.parameters import LARGEST_KEY, AsOf, Cursor, Day, Key, Limit, Text, Word, key_cursor, past_moment
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response, list_page
from tidemill.web.schemas import json_responses

Stock = Annotated[
    Literal["IN_STOCK", "OUT_OF_STOCK", "BACKORDER"] | None, Query(description="Only with this availability.")
]


def router(deps: WebDeps, prices: PriceReads, past: PastOffers) -> APIRouter:
    """Return the routes of offers: only what readers may see, corrections applied."""
    router = APIRouter(prefix="/api/v1", tags=["prices"])

    @router.get("/offers", responses=json_responses(Listed[OfferView], 422, 503))
    async def offers(
        product: Annotated[int | None, Query(ge=0, le=LARGEST_KEY)] = None,
        source: Word = None,
        text: Text = None,
        availability: Stock = None,
        cursor: Cursor = None,
        limit: Limit = 100,
        as_of: AsOf = None,
    ) -> Response:
        """List what shops ask now, or asked at a moment."""
        which = OfferFilter(
            product_id=product, source=source or None, text=text or None, availability=availability or None
        )
        then, after = past_moment(as_of, deps.clock.now()), key_cursor(cursor)
        if then is None:
            found = await prices.offers(which, after=after, limit=limit + 1)
        else:
            found = await past.offers(which, then, after=after, limit=limit + 1)
        return json_response(list_page(found, limit))

    @router.get("/offers/{offer_id}/history", responses=json_responses(Listed[PricePoint], 422, 503))
    async def offer_history(
        offer_id: Key, view: Reading = "corrected", date_from: Day = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List the prices that one shop asked for one product, oldest first."""
        found = await prices.history(
            [offer_id],
            since=begins(date_from),
            after=price_cursor(cursor),
            limit=limit + 1,
            corrected=view == "corrected",
        )
        return json_response(list_page(found, limit, cursor_text))

    return router
